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

// Logs are cut when they grow past maxLog, keeping the last keepLog bytes in FILE.1.
const (
	maxLog      = 32 << 20
	keepLog     = 4 << 20
	logInterval = 30 * time.Second
)

// trimLogs bounds the components' logs until ctx ends. They are truncated in place, because the components hold them
// open for appending.
func (s *Supervisor) trimLogs(ctx context.Context) {
	tick := time.NewTicker(logInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, c := range s.Status().Components {
			if err := trimLog(c.Log, maxLog, keepLog); err != nil {
				klog.ErrorS(err, "Log not cut", "component", c.Name)
			}
		}
	}
}

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
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".1", tail, 0o600); err != nil {
		return err
	}
	return file.Truncate(0)
}
