package program

import (
	"context"
	"debug/elf"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/utils/clock"
)

// mapped is how much of files this process has in its memory, in bytes.
func mapped(t *testing.T) uint64 {
	t.Helper()
	self, err := procfs.Self()
	if err != nil {
		t.Fatal(err)
	}
	status, err := self.NewStatus()
	if err != nil {
		t.Fatal(err)
	}
	return status.RssFile
}

func TestPagesOfTheProgramAreGivenBack(t *testing.T) {
	before := mapped(t)
	if err := Release(); err != nil {
		t.Fatal(err)
	}
	if after := mapped(t); after >= before {
		t.Errorf("%d bytes of files are mapped, %d were before", after, before)
	}
}

func TestWhatTheLinkerWroteIsKept(t *testing.T) {
	segments := []*elf.Prog{
		{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Off: 0, Filesz: 0x4000}},
		{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R, Off: 0x4000, Filesz: 0x2000}},
		{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_W, Off: 0x6ee0, Filesz: 0x3000}},
		{ProgHeader: elf.ProgHeader{Type: elf.PT_GNU_RELRO, Flags: elf.PF_R, Off: 0x6ee0, Filesz: 0x1120}},
	}
	readOnly, writable := &procfs.ProcMapPermissions{Read: true, Private: true}, &procfs.ProcMapPermissions{Read: true, Write: true, Private: true}
	tests := map[string]struct {
		mapping procfs.ProcMap
		want    bool
	}{
		"code":      {procfs.ProcMap{Offset: 0, Perms: readOnly}, true},
		"constants": {procfs.ProcMap{Offset: 0x4000, Perms: readOnly}, true},
		"addresses of libraries, read-only by then": {procfs.ProcMap{Offset: 0x6000, Perms: readOnly}, false},
		"variables":                   {procfs.ProcMap{Offset: 0x8000, Perms: writable}, false},
		"shared with other processes": {procfs.ProcMap{Offset: 0, Perms: &procfs.ProcMapPermissions{Read: true, Shared: true}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := isUnwritten(&tc.mapping, segments); got != tc.want {
				t.Errorf("unwritten = %t; want %t", got, tc.want)
			}
		})
	}
}

func TestPagesAreGivenBackUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		began := time.Now()
		Run(ctx, clock.RealClock{})
		if took := time.Since(began); took != 3*time.Hour {
			t.Errorf("ended after %s", took)
		}
	})
}
