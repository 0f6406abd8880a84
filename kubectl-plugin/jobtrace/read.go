package jobtrace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// Bounds of what is read.
const (
	// MaxFileBytes of a file.
	MaxFileBytes = 512 << 20
	// MaxJobs of a file.
	MaxJobs = 2_000_000
	maxLine = 64 << 10
)

// Open reads the jobs of a regular file: in the Standard Workload Format if its name ends in .swf, as CSV else. Errors name the file
// and the line.
func Open(path string) ([]jobinsight.Job, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read jobs %q: %w", path, errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read jobs %q: it is not a regular file", path)
	}
	if info.Size() > MaxFileBytes {
		return nil, fmt.Errorf("read jobs %q: %d bytes are more than %d", path, info.Size(), MaxFileBytes)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read jobs %q: %w", path, errors.Unwrap(err))
	}
	defer file.Close()
	read := ReadCSV
	if strings.EqualFold(filepath.Ext(path), ".swf") {
		read = ReadSWF
	}
	jobs, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("read jobs %q: %w", path, err)
	}
	return jobs, nil
}

// lines of a text, with their numbers.
type lines struct {
	scanner *bufio.Scanner
	number  int
}

func newLines(r io.Reader) *lines {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	return &lines{scanner: scanner}
}

// next line that is not blank; false at the end, or after an error.
func (l *lines) next() (string, bool) {
	for l.scanner.Scan() {
		l.number++
		if line := strings.TrimSpace(l.scanner.Text()); line != "" {
			return line, true
		}
	}
	return "", false
}

// failed is the error that ended the text, or the one of a line.
func (l *lines) failed(err error) error {
	if err == nil {
		if err = l.scanner.Err(); err == nil {
			return nil
		}
		return fmt.Errorf("line %d: %w", l.number+1, err)
	}
	return fmt.Errorf("line %d: %w", l.number, err)
}
