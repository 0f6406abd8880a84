package state

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestCheckOwner(t *testing.T) {
	const ada, ben = 4711, 4712
	if os.Getuid() != 0 {
		t.Skip("giving directories to other users needs root")
	}
	tests := map[string]struct {
		owner    int // of the home directory
		mode     os.FileMode
		uid      int // who asks
		wantUID  uint32
		wantOkay bool
	}{
		"one's own directory":                     {owner: ada, mode: 0o700, uid: ada, wantOkay: true},
		"a directory of another user":             {owner: ben, mode: 0o755, uid: ada, wantUID: ben},
		"a directory of root that all may enter":  {owner: 0, mode: 0o755, uid: ada, wantOkay: true},
		"root asks about a user's directory":      {owner: ada, mode: 0o700, uid: 0, wantUID: ada},
		"a closed directory of another user":      {owner: ben, mode: 0o700, uid: ada, wantUID: ben},
		"a closed directory of the administrator": {owner: 0, mode: 0o700, uid: ada, wantUID: 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(openTempDir(t), "home")
			if err := os.MkdirAll(filepath.Join(home, "inside"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Chown(home, tc.owner, -1), os.Chmod(home, tc.mode)); err != nil {
				t.Fatal(err)
			}
			err := as(t, tc.uid, func() error { return Open(filepath.Join(home, "missing"), "demo").CheckOwner(tc.uid) })
			if tc.wantOkay {
				if err != nil {
					t.Errorf("CheckOwner() = %v; want no error", err)
				}
				return
			}
			var foreign *ForeignOwnerError
			if !errors.As(err, &foreign) || foreign.UID != tc.wantUID || foreign.Path != home {
				t.Errorf("CheckOwner() = %v; want a ForeignOwnerError about %q of user %d", err, home, tc.wantUID)
			}
		})
	}
}

func TestCheckSpaceWithRoom(t *testing.T) {
	if err := At(t.TempDir()).CheckSpace(); err != nil {
		t.Errorf("CheckSpace() = %v", err)
	}
	if err := At(filepath.Join(t.TempDir(), "missing")).CheckSpace(); !says(err, "check the file system of") {
		t.Errorf("CheckSpace() of a directory that is missing = %v; want an error that says so", err)
	}
}

// openTempDir is a directory that every user can reach.
func openTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "koord")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// as runs a function with another user's rights on files.
func as(t *testing.T, uid int, do func() error) error {
	t.Helper()
	if err := syscall.Seteuid(uid); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Seteuid(0); err != nil {
			t.Fatal(err)
		}
	}()
	return do()
}
