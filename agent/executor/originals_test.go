package executor

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/api/finding"
)

// damages make an account one that cannot be read.
var damages = map[string]func(whole string) string{
	"empty":             func(string) string { return "" },
	"cut off":           func(whole string) string { return whole[:len(whole)/2] },
	"of zeros":          func(whole string) string { return strings.Repeat("\x00", len(whole)) },
	"edited":            func(whole string) string { return strings.Replace(whole, `"owner":"first"`, `"owner":"other"`, 1) },
	"of something else": func(string) string { return `{"checksum":2745614147,"data":{}}` },
	"longer":            func(whole string) string { return whole + "}" },
}

// TestADamagedAccountIsReportedAndNothingIsSet: nothing is given back by it either, and it is left as it is until it is put back.
func TestADamagedAccountIsReportedAndNothingIsSet(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
				f := newFixture(t, version)
				before := f.kernel.Dump()
				f.declare("first", DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})
				f.apply(1, 0)
				whole, set := f.content(), f.kernel.Dump()
				f.write(damage(whole))
				executor, err := New(f.options())
				if coded, is := finding.From(err); !is || coded.Code != finding.OriginalsDamaged || coded.Hint == "" {
					t.Fatalf("error %v, want one with the finding's code", err)
				}
				f.executor = executor
				values := append(cpus("0-1", container), DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "9000"})
				for range 3 {
					f.clock.Step(saveRetryInterval)
					f.declare("first", values...)
					f.refused(len(values))
					if _, err := f.executor.Restore(t.Context()); err == nil {
						t.Error("everything was given back, although nobody knows what")
					}
				}
				if diff := cmp.Diff(set, f.kernel.Dump()); diff != "" || f.content() != damage(whole) {
					t.Errorf("the account became %q, and something was set (-before +after):\n%s", f.content(), diff)
				}
				f.write(whole)
				f.clock.Step(saveRetryInterval)
				f.declare("first", values...)
				if f.apply(2, 0); f.executor.StoreErr() != nil {
					t.Errorf("originals are not kept: %v", f.executor.StoreErr())
				}
				if outcome, err := f.executor.Restore(t.Context()); err != nil || outcome.Err() != nil {
					t.Error(err, outcome.Err())
				}
				if diff := cmp.Diff(before, f.kernel.Dump()); diff != "" {
					t.Errorf("something is left (-before +after):\n%s", diff)
				}
			}
		})
	}
}

// TestAnAccountThatIsRemovedBeginsAnew with what is there.
func TestAnAccountThatIsRemovedBeginsAnew(t *testing.T) {
	f := newFixture(t, cgroup.V2)
	f.write("damaged")
	f.executor, _ = New(f.options())
	f.declare("first", cpus("0-1", container)...)
	f.refused(1)
	if err := os.Remove(f.store.Path); err != nil {
		t.Fatal(err)
	}
	f.refused(1) // it is looked at now and then
	f.clock.Step(saveRetryInterval)
	f.apply(1, 0)
}

// refused wants so many values to fail because of the account, and nothing to be written.
func (f *fixture) refused(want int) {
	f.Helper()
	outcome, err := f.executor.Apply(f.Context())
	coded, is := finding.From(err)
	if !is || coded.Code != finding.OriginalsDamaged || outcome.Writes > 0 || len(outcome.Failures) != want || f.executor.StoreErr() == nil {
		f.Fatalf("%d writes, %d failures, %v; want %d failures and the finding", outcome.Writes, len(outcome.Failures), err, want)
	}
	for _, failure := range outcome.Failures {
		if !errors.Is(failure, coded) {
			f.Errorf("failure %v, want the finding", failure)
		}
	}
}

// content of the account's file.
func (f *fixture) content() string {
	f.Helper()
	content, err := os.ReadFile(f.store.Path)
	if err != nil {
		f.Fatal(err)
	}
	return string(content)
}

// write replaces the account's file.
func (f *fixture) write(content string) {
	f.Helper()
	if err := os.WriteFile(f.store.Path, []byte(content), 0o600); err != nil {
		f.Fatal(err)
	}
}

// records are those in the account.
func (f *fixture) records() []record {
	f.Helper()
	var out []record
	if _, err := f.store.Load(&out); err != nil {
		f.Fatal(err)
	}
	return out
}

// TestRecordsOfAnotherVersionStay for it to give them back.
func TestRecordsOfAnotherVersionStay(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	foreign := record{Setting: "cpu.future", Cgroup: pod, Original: "7", Owner: "third"}
	if err := f.store.Save([]record{foreign, {}}); err != nil {
		t.Fatal(err)
	}
	f.restart()
	f.declare("first", DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})
	f.apply(1, 0)
	want := []record{foreign, {Setting: "cpu.shares", Cgroup: pod, Original: "1024", Owner: "first"}}
	if diff := cmp.Diff(want, f.records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	f.declare("first")
	f.apply(1, 0)
	if diff := cmp.Diff([]record{foreign}, f.records()); diff != "" {
		t.Errorf("records when all was given back (-want +got):\n%s", diff)
	}
}

// TestWhatWasThereBeforeTheMachineWasStartedIsNotGivenBack: cgroups are new then, whatever they are called.
func TestWhatWasThereBeforeTheMachineWasStartedIsNotGivenBack(t *testing.T) {
	for name, tc := range map[string]struct{ before, after, want string }{
		"the machine was started anew": {"one", "two", "2000"},
		"it was not":                   {"one", "one", "1024"},
		"nobody knew":                  {"", "two", "1024"},
		"nobody knows":                 {"one", "", "1024"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, cgroup.V1)
			f.startOn(tc.before)
			f.declare("first", DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})
			f.apply(1, 0)
			if err := f.kernel.Write("cpu/"+pod+"/cpu.shares", "2000"); err != nil { // kubelet recreated it
				t.Fatal(err)
			}
			f.startOn(tc.after)
			if outcome, err := f.executor.Restore(t.Context()); err != nil || outcome.Err() != nil {
				t.Fatal(err, outcome.Err())
			}
			f.want(cgroup.CPUShares, pod, tc.want)
			if left := f.records(); len(left) > 0 {
				t.Errorf("the account still has %+v", left)
			}
		})
	}
}

// startOn starts the agent on a machine that identifies its boot; one that does not where that is empty.
func (f *fixture) startOn(boot string) {
	f.Helper()
	options, proc := f.options(), kernelfs.NewMachine()
	if boot != "" {
		proc.Show("sys/kernel/random/boot_id", boot+"\n")
	}
	options.Proc = proc
	var err error
	if f.executor, err = New(options); err != nil {
		f.Fatal(err)
	}
}

// TestTheAccountIsAListAlways, which readers of other versions rely on.
func TestTheAccountIsAListAlways(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	f.declare("first", DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})
	f.apply(1, 0)
	f.declare("first")
	f.apply(1, 0)
	var file struct{ Data json.RawMessage }
	if err := json.Unmarshal([]byte(f.content()), &file); err != nil || string(file.Data) != "[]" {
		t.Errorf("the account is %s, %v", file.Data, err)
	}
}
