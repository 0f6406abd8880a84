package java

import (
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// searched are the directories in which dynamic linkers look for libraries without being told.
var searched = []string{
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
	"/lib64", "/usr/lib64", "/lib", "/usr/lib",
}

// loadedLater are libraries that those of engines load while they run, such as the ones that compress.
var loadedLater = []string{"libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6"}

// graphical are libraries of the runtime that draw, which no engine does; what they need is left out.
var graphical = []string{"libawt_xawt.so", "libsplashscreen.so", "libjawt.so", "libfontmanager.so", "libfreetype.so", "liblcms.so", "libjsound.so", "libjavajpeg.so", "libmlib_image.so"}

// librariesOf a runtime and of programs: the files of this machine that they need, the dynamic linker among them.
func librariesOf(runtime string, programs ...string) ([]string, error) {
	own, needed := map[string]bool{}, slices.Clone(loadedLater)
	var found []string
	err := filepath.WalkDir(runtime, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || slices.Contains(graphical, d.Name()) {
			return err
		}
		own[d.Name()] = true
		linker, names, err := linkage(path)
		needed = append(needed, names...)
		if linker != "" && !slices.Contains(found, linker) {
			found = append(found, linker)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, program := range programs {
		_, names, err := linkage(program)
		if err != nil {
			return nil, err
		}
		needed = append(needed, names...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no program in %q is linked dynamically", runtime)
	}
	for i := 0; i < len(needed); i++ {
		name := needed[i]
		if own[name] || slices.Contains(needed[:i], name) || name == filepath.Base(found[0]) {
			continue
		}
		path := search(name)
		if path == "" {
			if slices.Contains(loadedLater, name) {
				continue // not every machine has those, nor every engine needs them
			}
			return nil, fmt.Errorf("library %s is in none of %s", name, strings.Join(searched, ", "))
		}
		_, more, err := linkage(path)
		if err != nil {
			return nil, err
		}
		found, needed = append(found, path), append(needed, more...)
	}
	return found, nil
}

func search(name string) string {
	for _, directory := range searched {
		path := filepath.Join(directory, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// linkage of a program or library: its dynamic linker, empty for none, and the names of what it needs. Other files have neither.
func linkage(path string) (linker string, needed []string, err error) {
	file, err := elf.Open(path)
	if err != nil {
		return "", nil, nil //nolint:nilerr // a file of another kind, such as a configuration
	}
	defer func() { _ = file.Close() }() // it was only read
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			content, err := io.ReadAll(part.Open())
			if err != nil {
				return "", nil, fmt.Errorf("read the dynamic linker of %q: %w", path, err)
			}
			linker = strings.TrimRight(string(content), "\x00")
		}
	}
	needed, err = file.ImportedLibraries()
	return linker, needed, err
}
