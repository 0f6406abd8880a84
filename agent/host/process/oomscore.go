package process

import (
	"fmt"
	"strconv"
	"strings"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// OOMScore is oom_score_adj of a process, from -1000 to 1000. It is a setting of what Identity.String names.
type OOMScore struct{}

// oomScoreKey is the key of OOMScore.
const oomScoreKey = "oom_score_adj"

// ByKey returns the setting that has a key.
func ByKey(key string) (OOMScore, bool) { return OOMScore{}, key == oomScoreKey }

// Key returns the name under which Keyed finds it.
func (OOMScore) Key() string { return oomScoreKey }

// Locate returns the file, false for what names no process.
func (OOMScore) Locate(_ cgroup.Layout, of string) (files.Tree, string, bool) {
	identity, err := Parse(of)
	return files.Proc, strconv.Itoa(identity.PID) + "/" + oomScoreKey, err == nil
}

// Open opens the directory of a process, once it is sure that it is the one that was meant: started at the same time, and in
// the same cgroup. When it ends, nothing of another one is reached through the directory.
func (OOMScore) Open(proc files.FS, version cgroup.Version, of string) (files.Subtree, error) {
	identity, err := Parse(of)
	if err != nil {
		return nil, err
	}
	opener, can := proc.(files.Opener)
	if !can {
		return nil, fmt.Errorf("process %d: its directory cannot be kept open", identity.PID)
	}
	directory, err := opener.OpenSubtree(strconv.Itoa(identity.PID))
	if err != nil {
		return nil, err
	}
	if err := identity.check(directory, version); err != nil {
		_ = directory.Close() // nothing was written
		return nil, err
	}
	return directory, nil
}

func (i Identity) check(directory files.FS, version cgroup.Version) error {
	stat, err := directory.Read("stat", nil)
	if err != nil {
		return err
	}
	start, err := StartOf(string(stat))
	if err != nil {
		return err
	}
	groups, err := directory.Read("cgroup", nil)
	if err != nil {
		return err
	}
	if start != i.Start || !isIn(string(groups), version, i.Cgroup) {
		return fmt.Errorf("process %d: %w", i.PID, errForeign)
	}
	return nil
}

// Encode returns what is written for a value.
func (OOMScore) Encode(_ cgroup.Version, value string) (string, error) {
	score, err := strconv.ParseInt(value, 10, 64)
	if err != nil || score < -1000 || score > 1000 {
		return "", fmt.Errorf("value %.64q is not between -1000 and 1000", value)
	}
	return strconv.FormatInt(score, 10), nil
}

// Decode returns the value in what was read.
func (s OOMScore) Decode(version cgroup.Version, content string) (string, error) {
	return s.Encode(version, strings.TrimSpace(content))
}

// Own returns the content.
func (OOMScore) Own(_ cgroup.Version, content string) string { return strings.TrimSpace(content) }

// Looser is never true: no order holds between processes.
func (OOMScore) Looser(string, string) bool { return false }

// Join returns the first value.
func (OOMScore) Join(a, _ string) string { return a }

// Rank is that of the only setting of a process.
func (OOMScore) Rank() int { return 0 }
