package executor

import (
	"encoding/json"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
)

// written is a store of which the content is given.
type written string

func (w written) Load(data any) (bool, error) { return true, json.Unmarshal([]byte(w), data) }
func (written) Save(any) error                { return nil }

// FuzzOriginals: whatever is in the account of what was there before, it is given back or it is an error, and what is given back is
// forgotten.
func FuzzOriginals(f *testing.F) {
	f.Add(`[{"setting":"cpu.shares","cgroup":"kubepods/besteffort","original":"2","owner":"first"}]`)
	f.Add(`[{"setting":"io.max 8:0","cgroup":"../..","original":"rbps=max"},{"setting":"oom_score_adj","cgroup":"1@2 /x","original":"NaN"}]`)
	f.Add(`[{"setting":"cpuset.cpus","cgroup":"kubepods","original":"0-999999999"},{"setting":"cpu.cfs_quota_us","cgroup":"","original":"-9223372036854775808"}]`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, content string) {
		for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
			kernel := kernelfs.New(version, cpuset.Of(0, 1))
			kernel.Make(container)
			e, err := New(Options{
				Tree: kernel, Layout: cgroup.Layout{Version: version}, Proc: kernelfs.NewMachine(), Sys: kernelfs.NewMachine(), Owners: []string{"first"},
				Originals: written(content), Audit: audit.NewLog(10), Clock: clocktesting.NewFakeClock(time.Unix(0, 0)),
			})
			if err != nil {
				if _, err := e.Restore(t.Context()); err == nil {
					t.Error("an account that cannot be read was followed")
				}
				continue
			}
			outcome, err := e.Restore(t.Context())
			if err != nil {
				t.Error(err)
			}
			if len(e.managed) > len(outcome.Failures) {
				t.Errorf("%d files are held still, with failures %v", len(e.managed), outcome.Failures)
			}
		}
	})
}
