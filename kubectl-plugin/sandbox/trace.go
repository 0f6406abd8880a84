package sandbox

import "koordinator.sh/koord/agent/host/trace"

// checkTrace reads a trace before anything is started, so that a bad line is reported at once and not in a log.
func checkTrace(path string) error {
	if path == "" {
		return nil
	}
	_, err := trace.Open(path)
	return err
}
