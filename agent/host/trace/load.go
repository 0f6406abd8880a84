package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"koordinator.sh/koord/api/finding"
)

// Bounds of what is read.
const (
	// MaxFileBytes of one file.
	MaxFileBytes = 64 << 20
	// MaxFiles of a directory.
	MaxFiles = 1000
	// MaxValues of all series together: 64 MiB.
	MaxValues = 16 << 20
)

// hint for every trace that cannot be read.
const hint = "correct the line named above, or leave out --trace to use the built-in load model"

// Open reads a CSV file, or every *.csv file in a directory, without its subdirectories. Its errors are finding.Errors
// of the code SandboxTraceInvalid that name file and line.
func Open(path string) (*Set, error) {
	set, err := open(path)
	if err != nil {
		return nil, finding.Wrap(err, finding.SandboxTraceInvalid, hint)
	}
	return set, nil
}

func open(path string) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read trace %q: %w", path, errors.Unwrap(err))
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = list(path); err != nil {
			return nil, err
		}
	}
	set, room := &Set{}, MaxValues
	for _, file := range files {
		series, err := readFile(file, room)
		if err != nil {
			return nil, err
		}
		for _, s := range series {
			room -= len(s.values)
			if s.start == untimed {
				set.VMs = append(set.VMs, s)
			} else {
				set.Services = append(set.Services, s)
			}
		}
	}
	return set, nil
}

// list returns the CSV files of a directory, sorted.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read trace directory %q: %w", dir, errors.Unwrap(err))
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && strings.EqualFold(filepath.Ext(entry.Name()), ".csv") {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	switch {
	case len(files) == 0:
		return nil, fmt.Errorf("read trace directory %q: it holds no .csv file", dir)
	case len(files) > MaxFiles:
		return nil, fmt.Errorf("read trace directory %q: %d files are more than %d", dir, len(files), MaxFiles)
	}
	slices.Sort(files)
	return files, nil
}

// readFile reads a regular file. Others are not opened: a pipe would block until it is written to.
func readFile(path string, room int) ([]*Series, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read trace %q: %w", path, errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read trace %q: it is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read trace %q: %w", path, errors.Unwrap(err))
	}
	defer file.Close()
	if info.Size() > MaxFileBytes {
		return nil, fmt.Errorf("read trace %q: %d bytes are more than %d", path, info.Size(), MaxFileBytes)
	}
	series, err := Parse(file, filepath.Base(path), room)
	if err != nil {
		return nil, fmt.Errorf("read trace %q: %w", path, err)
	}
	return series, nil
}
