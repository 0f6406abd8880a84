package serving

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func fingerprint(t *testing.T, directory string, at time.Time) string {
	t.Helper()
	pair, err := kept(directory, "node-1", at)
	if err != nil {
		t.Fatal(err)
	}
	if pair.Leaf.NotBefore.After(at) || !pair.Leaf.NotAfter.After(at) {
		t.Errorf("valid from %s to %s, not at %s", pair.Leaf.NotBefore, pair.Leaf.NotAfter, at)
	}
	return Fingerprint(pair.Leaf)
}

func TestACertificateIsKeptUntilItIsDue(t *testing.T) {
	directory := t.TempDir()
	first := fingerprint(t, directory, now)
	tests := map[string]struct {
		change   func()
		at       time.Time
		wantSame bool
	}{
		"at once":                          {nil, now, true},
		"half a life later":                {nil, now.Add(lifetime / 2), true},
		"when a third of its life is left": {nil, now.Add(lifetime*2/3 + time.Hour), false},
		"before it was valid":              {nil, now.Add(-time.Hour), false},
		"without its key":                  {func() { os.Remove(filepath.Join(directory, keyFile)) }, now, false},
		"with another's key": {func() {
			other := t.TempDir()
			fingerprint(t, other, now)
			os.Rename(filepath.Join(other, keyFile), filepath.Join(directory, keyFile))
		}, now, false},
		"half written": {func() { os.WriteFile(filepath.Join(directory, certificateFile), []byte("-----BEGIN"), 0o600) }, now, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{certificateFile, keyFile} {
				os.Remove(filepath.Join(directory, file))
			}
			first = fingerprint(t, directory, now)
			if tc.change != nil {
				tc.change()
			}
			if got := fingerprint(t, directory, tc.at); (got == first) != tc.wantSame {
				t.Errorf("the same certificate: %v, want %v", got == first, tc.wantSame)
			}
			if info, err := os.Stat(filepath.Join(directory, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the key can be read by others: %v, %v", info, err)
			}
		})
	}
	if first == "" {
		t.Error("no fingerprint")
	}
}

func TestADirectoryThatCannotBeWrittenIsAnError(t *testing.T) {
	if _, err := kept(filepath.Join(t.TempDir(), "absent"), "node-1", now); err == nil {
		t.Error("no error for a certificate that cannot be kept")
	}
}
