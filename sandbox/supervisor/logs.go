package supervisor

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"k8s.io/klog/v2"
)

// Logs are cut when they grow past maxLog bytes, keeping the last keepLog bytes in FILE.1.
const (
	maxLog      = 32 << 20
	keepLog     = 4 << 20
	logInterval = 30 * time.Second
)

// trimLogs bounds the logs of the components, and the supervisor's own, until ctx ends. They are truncated in place,
// because their writers hold them open for appending.
func (s *Supervisor) trimLogs(ctx context.Context) {
	tick := time.NewTicker(logInterval)
	defer tick.Stop()
	for {
		for _, path := range s.logs() {
			if err := trimLog(path, maxLog, keepLog); err != nil {
				klog.ErrorS(err, "Failed to rotate a log", "log", path)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// logs are the log files that the sandbox writes.
func (s *Supervisor) logs() []string {
	paths := []string{s.dir.Log("supervisor")}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		paths = append(paths, s.dir.Log(r.component.Name))
	}
	return paths
}

// trimLog empties a log that is longer than limit and keeps its last bytes beside it. A log whose end cannot be kept is
// emptied all the same: the disk may be full because of it.
func trimLog(path string, limit, keep int64) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil || info.Size() <= limit {
		return err
	}
	tail, err := io.ReadAll(io.NewSectionReader(file, info.Size()-keep, keep))
	if err == nil {
		err = os.WriteFile(path+".1", tail, 0o600)
	}
	return errors.Join(err, file.Truncate(0))
}
