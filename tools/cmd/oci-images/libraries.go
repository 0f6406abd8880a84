package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// searched are the directories in which dynamic linkers look for libraries without being told, and by which they find them in an image
// as they do here.
var searched = []string{
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
	"/lib64", "/usr/lib64", "/lib", "/usr/lib",
}

// loaded are libraries that programs load while they run, and what those need beside what the programs do: NVIDIA's libnvidia-ml.so.1,
// which comes with the driver, needs mathematics.
var loaded = map[string][]string{"koord-nvml": {"libm.so.6"}}

// libraries are the files of this machine that a program needs to start: its dynamic linker, and what that loads. A program that is
// linked statically needs none.
func libraries(program string) ([]string, error) {
	linker, needed, machine, err := linkage(program)
	if err != nil || linker == "" {
		return nil, err
	}
	if _, err := os.Stat(linker); err != nil {
		return nil, fmt.Errorf("%s needs the dynamic linker %s, which this machine does not have: pack it where there is a GNU C library", filepath.Base(program), linker)
	}
	files := []string{linker}
	wanted := append(needed, loaded[filepath.Base(program)]...)
	for i := 0; i < len(wanted); i++ {
		if wanted[i] == filepath.Base(linker) || slices.Contains(wanted[:i], wanted[i]) {
			continue
		}
		path, err := find(wanted[i], machine)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", filepath.Base(program), err)
		}
		_, more, _, err := linkage(path)
		if err != nil {
			return nil, err
		}
		files, wanted = append(files, path), append(wanted, more...)
	}
	return files, nil
}

// linkage of a program or a library: its dynamic linker, which is empty for none, and the names of what it needs.
func linkage(path string) (linker string, needed []string, machine elf.Machine, err error) {
	file, err := elf.Open(path)
	if bad := (*elf.FormatError)(nil); errors.As(err, &bad) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "", nil, 0, nil // a program that the kernel starts in another way
	}
	if err != nil {
		return "", nil, 0, err
	}
	defer func() { _ = file.Close() }() // it was only read
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			content, err := io.ReadAll(part.Open())
			if err != nil {
				return "", nil, 0, fmt.Errorf("read the dynamic linker of %q: %w", path, err)
			}
			linker = strings.TrimRight(string(content), "\x00")
		}
	}
	needed, err = file.ImportedLibraries()
	return linker, needed, file.Machine, err
}

// find a library of a machine's kind.
func find(name string, machine elf.Machine) (string, error) {
	for _, directory := range searched {
		path := filepath.Join(directory, name)
		if _, _, has, err := linkage(path); err == nil && has == machine {
			return path, nil
		}
	}
	return "", fmt.Errorf("library %s is in none of %s", name, strings.Join(searched, ", "))
}
