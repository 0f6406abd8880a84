// Command oci-images packs each component's program into an OCI image, written as an OCI archive (a tar of an OCI
// layout, as `ctr images import` and `skopeo copy oci-archive:` read it). It needs no container engine, and the same
// program gives the same image, bit for bit.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nonroot is the user the components run as; it has no entry in any passwd file and needs none.
const nonroot = "65532:65532"

func main() {
	bin := flag.String("bin", "bin", "directory with the programs")
	out := flag.String("out", "bin/images", "directory to write the archives to")
	version := flag.String("version", "devel", "tag of the images")
	registry := flag.String("registry", "", "what the images' names begin with, such as example.com/koordinator/")
	programs := flag.String("programs", "koord-manager,koord-scheduler", "programs to pack, comma-separated")
	flag.Parse()
	if err := os.MkdirAll(*out, 0o755); err != nil {
		fail(err)
	}
	for _, name := range strings.Split(*programs, ",") {
		path, err := pack(filepath.Join(*bin, name), name, *registry+name+":"+*version, *out)
		if err != nil {
			fail(fmt.Errorf("pack %q: %w", name, err))
		}
		fmt.Println(path)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

// pack writes OUT/NAME.tar, an image with a reference, and returns its path.
func pack(program, name, reference, out string) (string, error) {
	image, err := build(program, name)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(out, "."+name+"-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory inside bin/
	store, err := layout.Write(dir, empty.Index)
	if err != nil {
		return "", err
	}
	annotations := layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": reference[strings.LastIndexByte(reference, ':')+1:],
		"io.containerd.image.name":          reference,
	})
	if err := store.AppendImage(image, annotations); err != nil {
		return "", err
	}
	path := filepath.Join(out, name+".tar")
	return path, archive(dir, path)
}

func build(program, name string) (v1.Image, error) {
	binary, err := os.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("%w (run: make build)", err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return programLayer(name, binary) })
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config.Entrypoint = []string{"/" + name}
	file.Config.User = nonroot
	return mutate.ConfigFile(image, file)
}

// programLayer is a tar with the program alone, without times, so that it is reproducible.
func programLayer(name string, binary []byte) (io.ReadCloser, error) {
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	if err := writer.WriteHeader(&tar.Header{Name: name, Mode: 0o555, Size: int64(len(binary)), Typeflag: tar.TypeReg}); err != nil {
		return nil, err
	}
	if _, err := writer.Write(binary); err != nil {
		return nil, err
	}
	return io.NopCloser(&buffer), writer.Close()
}

// archive writes the files of a directory into a tar, in lexical order and without times.
func archive(dir, path string) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	writer := tar.NewWriter(file)
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return addFile(writer, dir, name)
	})
	return errors.Join(err, writer.Close())
}

func addFile(writer *tar.Writer, dir, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(dir, name)
	if err != nil {
		return err
	}
	header := &tar.Header{Name: filepath.ToSlash(relative), Mode: 0o444, Size: int64(len(data)), Typeflag: tar.TypeReg}
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	_, err = writer.Write(data)
	return err
}
