package java

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"
)

// entry is a file of a layer, or a directory.
type entry struct {
	// name in the image, without the slash that it begins with.
	name      string
	mode      int64
	directory bool
	// content, unless path names a file that has it.
	content []byte
	path    string
}

// layer of an image: its files.
type layer []entry

// configuration of the containers of an image.
type configuration struct {
	Entrypoint, Env []string
	User            string
	WorkingDir      string
}

// descriptor names a blob of an archive by its content.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Media types of the OCI image format.
const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar"
	indexType    = "application/vnd.oci.image.index.v1+json"
)

// writeArchive writes an image as an OCI archive: a tar of an OCI layout. Nothing in it has a time, so that the same files give the same
// image.
func writeArchive(path, reference string, config configuration, layers []layer) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	a := &archive{out: tar.NewWriter(file)}
	if err := a.image(reference, config, layers); err != nil {
		return fmt.Errorf("write image %q: %w", reference, err)
	}
	return a.out.Close()
}

// archive is being written.
type archive struct{ out *tar.Writer }

func (a *archive) image(reference string, config configuration, layers []layer) error {
	var written []descriptor
	digests := []string{}
	for _, l := range layers {
		d, err := a.layer(l)
		if err != nil {
			return err
		}
		written, digests = append(written, d), append(digests, d.Digest)
	}
	configured, err := a.document(configType, map[string]any{
		"os": "linux", "architecture": runtime.GOARCH, "rootfs": map[string]any{"type": "layers", "diff_ids": digests},
		"config": map[string]any{"Entrypoint": config.Entrypoint, "Env": config.Env, "User": config.User, "WorkingDir": config.WorkingDir},
	})
	if err != nil {
		return err
	}
	manifest, err := a.document(manifestType, map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": configured, "layers": written})
	if err != nil {
		return err
	}
	manifest.Annotations = map[string]string{"io.containerd.image.name": reference}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{manifest}})
	if err != nil {
		return err
	}
	if err := a.file("index.json", int64(len(index)), bytes.NewReader(index)); err != nil {
		return err
	}
	layout := []byte(`{"imageLayoutVersion":"1.0.0"}`)
	return a.file("oci-layout", int64(len(layout)), bytes.NewReader(layout))
}

// layer writes a layer through a temporary file: its digest comes before its content.
func (a *archive) layer(l layer) (descriptor, error) {
	temporary, err := os.CreateTemp("", "koord-layer-")
	if err != nil {
		return descriptor{}, err
	}
	defer func() {
		_ = temporary.Close()           // it was read to the end
		_ = os.Remove(temporary.Name()) // a temporary file
	}()
	sum := sha256.New()
	if err := writeLayer(io.MultiWriter(temporary, sum), l); err != nil {
		return descriptor{}, err
	}
	size, err := temporary.Seek(0, io.SeekEnd)
	if err != nil {
		return descriptor{}, err
	}
	if _, err := temporary.Seek(0, io.SeekStart); err != nil {
		return descriptor{}, err
	}
	return a.blob(layerType, sum, size, temporary)
}

func (a *archive) document(mediaType string, value any) (descriptor, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return descriptor{}, err
	}
	sum := sha256.New()
	sum.Write(data)
	return a.blob(mediaType, sum, int64(len(data)), bytes.NewReader(data))
}

func (a *archive) blob(mediaType string, sum hash.Hash, size int64, content io.Reader) (descriptor, error) {
	digest := hex.EncodeToString(sum.Sum(nil))
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: size}, a.file("blobs/sha256/"+digest, size, content)
}

func (a *archive) file(name string, size int64, content io.Reader) error {
	if err := a.out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	_, err := io.Copy(a.out, content)
	return err
}

func writeLayer(out io.Writer, l layer) error {
	w := tar.NewWriter(out)
	for _, e := range l {
		if err := writeEntry(w, e); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeEntry(w *tar.Writer, e entry) error {
	if e.directory {
		return w.WriteHeader(&tar.Header{Name: e.name + "/", Mode: e.mode, Typeflag: tar.TypeDir})
	}
	var content io.Reader = bytes.NewReader(e.content)
	size := int64(len(e.content))
	if e.path != "" {
		file, err := os.Open(e.path)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		info, err := file.Stat()
		if err != nil {
			return err
		}
		content, size = file, info.Size()
	}
	if err := w.WriteHeader(&tar.Header{Name: e.name, Mode: e.mode, Size: size, Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	_, err := io.Copy(w, content)
	return err
}
