// Package checkpoint keeps what must outlive the agent in files that are either whole or as they were before.
package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is one checkpoint. One goroutine at a time may use it.
type File struct {
	// Path of the file; its directory must exist.
	Path string
}

// besides is what the name of a file ends in while it is written.
const besides = ".new"

// envelope is what the file contains.
type envelope struct {
	Checksum uint32          `json:"checksum"`
	Data     json.RawMessage `json:"data"`
}

// Save replaces the content. When it returns nil, the content survives a loss of power; when it fails, or the process dies
// within, the former content stays.
func (f File) Save(data any) error {
	content, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode checkpoint %q: %w", f.Path, err)
	}
	content, err = json.Marshal(envelope{Checksum: crc32.ChecksumIEEE(content), Data: content})
	if err != nil {
		return fmt.Errorf("encode checkpoint %q: %w", f.Path, err)
	}
	if err := f.replace(content); err != nil {
		return fmt.Errorf("save checkpoint %q: %w", f.Path, err)
	}
	return nil
}

// replace writes beside the file, and puts that in its place.
func (f File) replace(content []byte) error {
	// One name for all, so that a process that is killed again and again leaves one file at most. What has it is removed and not
	// opened: it may be a link.
	name := f.Path + besides
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	beside, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(beside.Name()) }() // it has gone when all went well
	_, err = beside.Write(content)
	if err := errors.Join(err, beside.Sync(), beside.Close()); err != nil {
		return err
	}
	if err := os.Rename(beside.Name(), f.Path); err != nil {
		return err
	}
	directory, err := os.Open(filepath.Dir(f.Path))
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// Load reads the content into data, and reports whether there is any. An error says that there is some which cannot be read.
func (f File) Load(data any) (bool, error) {
	content, err := f.read()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("load checkpoint: %w", err)
	}
	var read envelope
	if err := json.Unmarshal(content, &read); err != nil {
		return false, fmt.Errorf("load checkpoint %q: %w", f.Path, err)
	}
	if sum := crc32.ChecksumIEEE(read.Data); sum != read.Checksum {
		return false, fmt.Errorf("load checkpoint %q: checksum %08x, want %08x", f.Path, sum, read.Checksum)
	}
	if err := json.Unmarshal(read.Data, data); err != nil {
		return false, fmt.Errorf("load checkpoint %q: %w", f.Path, err)
	}
	return true, nil
}

// largest checkpoint that is read, in bytes.
const largest = 64 << 20

func (f File) read() ([]byte, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, largest+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(content) > largest {
		return nil, fmt.Errorf("%q is larger than %d bytes", f.Path, largest)
	}
	return content, nil
}
