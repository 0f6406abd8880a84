package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"koordinator.sh/koord/sandbox/state"
)

// maxSocketPath is the longest path a Unix socket can be bound to on every system Go supports.
const maxSocketPath = 100

// SocketPath is where the supervisor of a sandbox listens: in the sandbox's directory, or, where that path is too long
// for a socket, in a directory of the user's own below /tmp. That is not the TMPDIR of the moment, because koordctl and
// the supervisor may be started with different ones.
func SocketPath(dir state.Dir) string {
	path := filepath.Join(dir.Path(), "supervisor.sock")
	if len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(dir.Path()))
	return filepath.Join("/tmp", fmt.Sprintf("koord-sandbox-%d", os.Getuid()), hex.EncodeToString(sum[:8])+".sock")
}

// MakeSocketDir makes the directory of SocketPath, and returns an error when it is not the user's alone.
func MakeSocketDir(dir state.Dir) error {
	parent := filepath.Dir(SocketPath(dir))
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return fmt.Errorf("create the socket's directory: %w", err)
	}
	return checkPrivate(parent)
}

// checkPrivate returns an error when others may put files into a directory: below /tmp they could have made it first, and
// would then answer in the supervisor's place. A directory that does not exist is private.
func checkPrivate(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check the directory of the socket: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 || ok && int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("use directory %q for the socket: it belongs to another user or is accessible to others (%s)", path, info.Mode())
	}
	return nil
}
