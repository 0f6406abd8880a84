package java

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLibrariesOfADynamicProgram packs a shell of this machine, where that is linked dynamically.
func TestLibrariesOfADynamicProgram(t *testing.T) {
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	linker, needed, err := linkage(shell)
	if err != nil || linker == "" || len(needed) == 0 {
		t.Skipf("%s is not linked dynamically here: %v", shell, err)
	}
	content, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "sh"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "release"), []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := librariesOf(directory)
	if err != nil {
		t.Fatal(err)
	}
	if found[0] != linker {
		t.Errorf("the first is %q; want the dynamic linker %q", found[0], linker)
	}
	for _, path := range found {
		if file, err := elf.Open(path); err != nil {
			t.Errorf("%s is no library: %v", path, err)
		} else {
			_ = file.Close()
		}
	}
}

func TestARuntimeWithoutProgramsIsNone(t *testing.T) {
	if found, err := librariesOf(t.TempDir()); err == nil {
		t.Errorf("libraries = %q; want an error", found)
	}
}

// TestProgramsArePackedWithTheirLibraries: those of a program are found beside those of the runtime.
func TestProgramsArePackedWithTheirLibraries(t *testing.T) {
	paths, err := find([]string{"ls", "sh"})
	if err != nil {
		t.Skip(err)
	}
	linker, needed, err := linkage(paths[0])
	if err != nil || linker == "" || len(needed) == 0 {
		t.Skipf("%s is not linked dynamically here: %v", paths[0], err)
	}
	directory := t.TempDir()
	content, err := os.ReadFile(paths[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "sh"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	found, err := librariesOf(directory, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range needed {
		if !slices.Contains(found, search(name)) {
			t.Errorf("libraries = %q; want %s, which ls needs", found, name)
		}
	}
}

func TestProgramsThatAreMissingAreNamed(t *testing.T) {
	if _, err := find([]string{"no-such-program"}); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("find = %v; want an error that names the program", err)
	}
}
