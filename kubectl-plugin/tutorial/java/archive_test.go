package java

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unpack returns the files of a tar by their names.
func unpack(t *testing.T, content []byte) (files map[string][]byte, modes map[string]int64) {
	t.Helper()
	files, modes = map[string][]byte{}, map[string]int64{}
	reader := tar.NewReader(bytes.NewReader(content))
	for {
		header, err := reader.Next()
		if err == io.EOF {
			return files, modes
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
		modes[header.Name] = header.Mode
	}
}

func writeTestArchive(t *testing.T) []byte {
	t.Helper()
	directory := t.TempDir()
	program := filepath.Join(directory, "program")
	if err := os.WriteFile(program, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(directory, "image.tar")
	layers := []layer{
		{{name: "tmp", mode: 0o1777, directory: true}, {name: "bin/program", mode: 0o555, path: program}},
		{{name: "etc/passwd", mode: 0o444, content: []byte("root")}},
	}
	if err := writeArchive(at, "example.com/engine:v1", configuration{Entrypoint: []string{"/bin/program"}, User: "185:0"}, layers); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestAnImageIsFoundByItsNameAndItsDigests(t *testing.T) {
	files, _ := unpack(t, writeTestArchive(t))
	blob := func(d descriptor) []byte {
		content := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if sum := sha256.Sum256(content); d.Digest != "sha256:"+hex.EncodeToString(sum[:]) || d.Size != int64(len(content)) {
			t.Errorf("%s of %d bytes is another blob, of %d", d.Digest, d.Size, len(content))
		}
		return content
	}
	decode := func(content []byte, into any) {
		if err := json.Unmarshal(content, into); err != nil {
			t.Fatal(err)
		}
	}
	var index struct{ Manifests []descriptor }
	decode(files["index.json"], &index)
	if got, want := index.Manifests[0].Annotations["io.containerd.image.name"], "example.com/engine:v1"; got != want {
		t.Errorf("name = %q; want %q", got, want)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode(blob(index.Manifests[0]), &manifest)
	var config struct {
		Config struct {
			Entrypoint []string
			User       string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	decode(blob(manifest.Config), &config)
	want := []string{manifest.Layers[0].Digest, manifest.Layers[1].Digest}
	if diff := cmp.Diff(want, config.RootFS.DiffIDs); diff != "" {
		t.Errorf("layers of the configuration (-want +got):\n%s", diff)
	}
	if config.Config.User != "185:0" || len(config.Config.Entrypoint) != 1 {
		t.Errorf("configuration = %+v", config.Config)
	}
	contents, modes := unpack(t, blob(manifest.Layers[0]))
	if diff := cmp.Diff(map[string]int64{"tmp/": 0o1777, "bin/program": 0o555}, modes); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
	if got := string(contents["bin/program"]); got != "#!" {
		t.Errorf("program = %q", got)
	}
}

func TestTheSameFilesGiveTheSameImage(t *testing.T) {
	if !bytes.Equal(writeTestArchive(t), writeTestArchive(t)) {
		t.Error("the archives of two runs differ")
	}
}
