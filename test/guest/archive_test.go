package guest

import (
	"errors"
	"strings"
	"testing"
)

// TestAnArchiveIsWhatTheKernelReads checks every byte of a small one against the format's description.
func TestAnArchiveIsWhatTheKernelReads(t *testing.T) {
	var out strings.Builder
	a := &archive{out: &out}
	a.directory("dev")
	a.file("init", []byte("hello"))
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	zero := strings.Repeat("0", 8)
	header := func(number, mode, size, nameSize string) string {
		return "070701" + number + mode + zero + zero + "00000001" + zero + size + zero + zero + zero + zero + nameSize + zero
	}
	want := header("00000001", "000041ED", zero, "00000004") + "dev\x00\x00\x00" +
		header("00000002", "000081ED", "00000005", "00000005") + "init\x00\x00" + "hello\x00\x00\x00" +
		header("00000003", zero, zero, "0000000B") + "TRAILER!!!\x00\x00\x00\x00"
	if got := out.String(); got != want {
		t.Errorf("archive\n%q, want\n%q", got, want)
	}
}

type full struct{}

var errFull = errors.New("the disk is full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAnArchiveThatCannotBeWrittenIsTold(t *testing.T) {
	a := &archive{out: full{}}
	a.file("init", []byte("hello"))
	if err := a.close(); !errors.Is(err, errFull) {
		t.Errorf("error %v, want that the disk is full", err)
	}
}
