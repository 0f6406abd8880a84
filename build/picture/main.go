// Command picture draws what a terminal showed as an SVG, so that pictures in the documentation are real output and can be
// made again:
//
//	tmux capture-pane -epN > nodes.ansi
//	go run ./build/picture -in nodes.ansi -out nodes.svg
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	in := flag.String("in", "", "captured terminal output with ANSI escape sequences")
	out := flag.String("out", "", "SVG file to write")
	title := flag.String("title", "koordctl", "title of the terminal window")
	flag.Parse()
	if err := run(*in, *out, *title); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(in, out, title string) error {
	if in == "" || out == "" {
		return errors.New("-in and -out are required")
	}
	capture, err := os.ReadFile(in)
	if err != nil {
		return fmt.Errorf("read the capture: %w", err)
	}
	grid := parse(string(capture))
	if grid.width() == 0 {
		return fmt.Errorf("capture %q shows nothing", in)
	}
	if err := os.WriteFile(out, draw(grid, title), 0o644); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}
