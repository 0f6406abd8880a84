package guest

import (
	"fmt"
	"io"
	"math"
)

// archive writes the files that a kernel starts with, in the format that it reads: "newc" of cpio, uncompressed, which an
// emulated processor unpacks the fastest. Nothing is written after an error, which close returns.
type archive struct {
	out   io.Writer
	count uint32
	err   error
}

// Modes of what is in an archive.
const (
	directoryMode  = 0o040755
	programMode    = 0o100755
	trailer        = "TRAILER!!!"
	archiveMagic   = "070701"
	archiveAligned = 4
)

func (a *archive) directory(name string)            { a.add(name, directoryMode, nil) }
func (a *archive) file(name string, content []byte) { a.add(name, programMode, content) }
func (a *archive) add(name string, mode uint32, content []byte) {
	if len(content) > math.MaxUint32 {
		a.err = fmt.Errorf("%s has %d bytes, more than an archive can have", name, len(content))
	}
	a.count++
	header := archiveMagic
	for _, field := range []uint32{
		a.count, mode, 0, 0, 1, 0, uint32(len(content)), 0, 0, 0, 0, uint32(len(name) + 1), 0,
	} {
		header += fmt.Sprintf("%08X", field)
	}
	a.aligned([]byte(header + name + "\x00"))
	a.aligned(content)
}

func (a *archive) aligned(content []byte) {
	if a.err == nil {
		_, a.err = a.out.Write(content)
	}
	if missing := -len(content) & (archiveAligned - 1); a.err == nil && missing > 0 {
		_, a.err = a.out.Write(make([]byte, missing))
	}
}

// close ends the archive.
func (a *archive) close() error {
	a.add(trailer, 0, nil)
	if a.err != nil {
		return fmt.Errorf("write the guest's files: %w", a.err)
	}
	return nil
}
