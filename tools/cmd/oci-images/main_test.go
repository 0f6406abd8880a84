package main

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
)

func TestImagesAreNamedByTheirPrograms(t *testing.T) {
	for text, want := range map[string]content{
		"koordlet":                          {name: "koordlet", programs: []string{"koordlet"}},
		"koordlet-nvml=koordlet+koord-nvml": {name: "koordlet-nvml", programs: []string{"koordlet", "koord-nvml"}},
	} {
		if got := contentOf(text); got.name != want.name || !slices.Equal(got.programs, want.programs) {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

func TestAProgramThatNeedsNothingIsPackedAlone(t *testing.T) {
	bin := t.TempDir()
	write(t, filepath.Join(bin, "script"), "#!/bin/sh\n")
	files, err := filesOf(bin, []string{"script"})
	if err != nil || len(files) != 1 || files[0].name != "script" {
		t.Errorf("the image has %+v, %v; want the program alone", files, err)
	}
	if _, err := filesOf(bin, []string{"script", "absent"}); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// TestAProgramRunsWithNothingButItsImage: one that loads a library while it runs, as koord-nvml does.
func TestAProgramRunsWithNothingButItsImage(t *testing.T) {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("needs a C compiler")
	}
	bin, out, root := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(bin, "first"), "#!/bin/sh\n")
	write(t, filepath.Join(bin, "main.c"), "#include <dlfcn.h>\n#include <stdio.h>\nint main(void) { return puts(dlopen(\"libm.so.6\", RTLD_NOW) ? \"loaded\" : dlerror()) < 0; }\n")
	if output, err := exec.Command(compiler, "-o", filepath.Join(bin, "koord-nvml"), filepath.Join(bin, "main.c"), "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	c := contentOf("image=first+koord-nvml")
	archive, err := pack(bin, c, "example.com/image:v1", out)
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if archive, err = pack(bin, c, "example.com/image:v1", out); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(archive); err != nil || string(content) != string(again) {
		t.Errorf("the same programs give another image, %v", err)
	}
	unpack(t, archive, root)
	if os.Geteuid() != 0 {
		t.Skip("needs root, to see nothing but the image")
	}
	command := exec.Command("/koord-nvml")
	command.Dir, command.Env = "/", []string{}
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if output, err := command.CombinedOutput(); err != nil || string(output) != "loaded\n" {
		t.Errorf("in its image, the program says %q, %v", output, err)
	}
}

// unpack the only layer of an archive.
func unpack(t *testing.T, archive, root string) {
	t.Helper()
	store := t.TempDir()
	if output, err := exec.Command("tar", "-xf", archive, "-C", store).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	index, err := layout.ImageIndexFromPath(store)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("the image has %d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, header.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, os.FileMode(header.Mode))); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}
