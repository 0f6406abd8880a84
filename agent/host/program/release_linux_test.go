package program

import (
	"context"
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
