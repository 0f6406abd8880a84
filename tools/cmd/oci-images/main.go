// Command oci-images packs each component's program into an OCI image, written as an OCI archive (a tar of an OCI
// layout, as `ctr images import` and `skopeo copy oci-archive:` read it). It needs no container engine, and the same
// program gives the same image, bit for bit. A program that needs a dynamic linker gets that and its libraries from this machine.
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
	"slices"
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
	programs := flag.String("programs", "koord-manager,koord-scheduler", "programs to pack, comma-separated; IMAGE=PROGRAM+PROGRAM packs several into one, the first to be run")
	flag.Parse()
	if err := os.MkdirAll(*out, 0o755); err != nil {
		fail(err)
	}
	for _, text := range strings.Split(*programs, ",") {
		c := contentOf(text)
		path, err := pack(*bin, c, *registry+c.name+":"+*version, *out)
		if err != nil {
			fail(fmt.Errorf("pack %q: %w", c.name, err))
		}
		fmt.Println(path)
	}
}

// content of an image: its name, and its programs, of which the first is run.
type content struct {
	name     string
	programs []string
}

func contentOf(text string) content {
	name, programs, several := strings.Cut(text, "=")
	if !several {
		return content{name: text, programs: []string{text}}
	}
	return content{name: name, programs: strings.Split(programs, "+")}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

// pack writes OUT/NAME.tar, an image with a reference, and returns its path.
func pack(bin string, c content, reference, out string) (string, error) {
	image, err := build(bin, c)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(out, "."+c.name+"-*")
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
	path := filepath.Join(out, c.name+".tar")
	return path, archive(dir, path)
}

func build(bin string, c content) (v1.Image, error) {
	files, err := filesOf(bin, c.programs)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return layerOf(files) })
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
	file.Config.Entrypoint = []string{"/" + c.programs[0]}
	file.Config.User = nonroot
	if len(files) > len(c.programs) {
		// Where container runtimes put libraries of drivers, which depends on what they take the image for.
		file.Config.Env = []string{"LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu"}
	}
	return mutate.ConfigFile(image, file)
}

// packed is a file of an image.
type packed struct {
	// name in the image, without the slash that it begins with.
	name    string
	content []byte
}

// filesOf programs: these, at the top, and what they need of this machine, where it is here.
func filesOf(bin string, programs []string) ([]packed, error) {
	var out []packed
	add := func(name, path string) error {
		binary, err := os.ReadFile(path)
		out = append(out, packed{name: name, content: binary})
		return err
	}
	var needed []string
	for _, program := range programs {
		path := filepath.Join(bin, program)
		if err := add(program, path); err != nil {
			return nil, fmt.Errorf("%w (run: make build)", err)
		}
		more, err := libraries(path)
		if err != nil {
			return nil, err
		}
		needed = append(needed, more...)
	}
	slices.Sort(needed)
	for _, path := range slices.Compact(needed) {
		if err := add(strings.TrimPrefix(path, "/"), path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// layerOf is a tar of files, without times, so that it is reproducible.
func layerOf(files []packed) (io.ReadCloser, error) {
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	for _, file := range files {
		if err := writer.WriteHeader(&tar.Header{Name: file.name, Mode: 0o555, Size: int64(len(file.content)), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := writer.Write(file.content); err != nil {
			return nil, err
		}
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
