// Package work is what processes in cgroups do for tests: they keep CPUs busy, hold memory and read files. It imports nothing
// but the standard library, so that a process that does nothing else starts at once.
package work

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Variable names the environment variable by which a program is started to work.
const Variable = "KOORD_LIVE_WORK"

// Work is what a process does.
type Work string

// Wait does nothing.
const Wait Work = "wait"

// Burn keeps a number of CPUs busy until the process is killed.
func Burn(cpus int) Work { return Work(fmt.Sprintf("burn %d", cpus)) }

// Hold takes a number of bytes of memory and keeps them.
func Hold(bytes int64) Work { return Work(fmt.Sprintf("hold %d", bytes)) }

// ReadFile reads a number of bytes of a file once, through the page cache, and keeps the file open: what was read of a disk goes
// with the last who has it open.
func ReadFile(path string, bytes int64) Work { return Work(fmt.Sprintf("read %d %s", bytes, path)) }

// Asked reports whether this program was started to work.
func Asked() bool { return os.Getenv(Variable) != "" }

// Main works and ends the process.
func Main() {
	if err := Work(os.Getenv(Variable)).do(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// do begins as soon as there is a line of input, says so when all is done, or has begun where it has no end, and ends with its
// input.
func (w Work) do(from io.Reader, to io.Writer) error {
	input := bufio.NewReader(from)
	if _, err := input.ReadString('\n'); err != nil {
		return fmt.Errorf("wait to be let into the cgroup: %w", err)
	}
	name, argument, _ := strings.Cut(string(w), " ")
	number, path, _ := strings.Cut(argument, " ")
	amount, _ := strconv.ParseInt(number, 10, 64) // zero where the work has none
	var held []byte
	switch name {
	case "burn":
		for range amount {
			go func() {
				for n := 0; ; n++ { // busy until the process ends
					_ = n
				}
			}()
		}
	case "hold":
		held = make([]byte, amount)
		for i := 0; i < len(held); i += os.Getpagesize() {
			held[i] = 1
		}
	case "read":
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := io.CopyN(io.Discard, struct{ io.Reader }{file}, amount); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	if _, err := fmt.Fprintln(to, "done"); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, input)
	if len(held) > 0 {
		held[0] = 2 // it is held until here
	}
	return err
}
