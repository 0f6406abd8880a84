package resctrl_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/intel/goresctrl/pkg/rdt"
	"golang.org/x/sys/unix"

	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/resctrl"
	"koordinator.sh/koord/agent/host/resctrl/resctrlfs"
)

// counters of a group, by group.
type counters map[string]resctrl.Counters

// TestGroupsAreReadAsGoresctrlReadsThem compares groups, what is monitored and every counter of a group, on a copy of a simulated tree.
// The library finds resctrl only in /proc/mounts, so that the test gives it a modified one, which takes a mount namespace.
func TestGroupsAreReadAsGoresctrlReadsThem(t *testing.T) {
	directory := t.TempDir()
	kernel := resctrlfs.New(resctrlfs.Intel)
	for _, group := range []string{"BE", "LS"} {
		if err := kernel.Make(group); err != nil {
			t.Fatal(err)
		}
	}
	for _, shown := range []struct {
		group, counter string
		cache          int
		value          string
	}{
		{"", "llc_occupancy", 0, "4096"},
		{"BE", "llc_occupancy", 0, "1048576"},
		{"BE", "llc_occupancy", 1, "Unavailable"},
		{"BE", "mbm_total_bytes", 0, "18446744073709551615"},
		{"BE", "mbm_total_bytes", 1, "0"},
		{"BE", "mbm_local_bytes", 1, "Error"},
		{"LS", "mbm_local_bytes", 1, "9007199254740993"}, // more than a float can represent exactly
	} {
		kernel.Count(shown.group, shown.counter, shown.cache, shown.value)
	}
	write(t, kernel, directory)
	library, monitored := byLibrary(t, directory)

	tree, err := resctrl.Open(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tree.Close() }() // nothing is buffered
	proc, err := files.NewReal("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = proc.Close() }() // nothing is buffered
	capability, err := resctrl.Probe(tree, proc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(monitored, slices.Sorted(slices.Values(capability.Monitored))); diff != "" {
		t.Errorf("what is monitored, as goresctrl reads it and as the agent does (-want +got):\n%s", diff)
	}
	ours := counters{}
	for group := range library {
		ours[group], _ = resctrl.ReadCounters(tree, group, time.Time{})
	}
	if diff := cmp.Diff(library, ours); diff != "" {
		t.Errorf("counters, as goresctrl reads them and as the agent does (-want +got):\n%s", diff)
	}
	if len(library) != 3 || library["BE"].Occupancy == 0 {
		t.Errorf("goresctrl read %v", library)
	}
}

// write makes files of what the simulated tree shows, and those that it does not have because the agent does not read them.
func write(t *testing.T, kernel *resctrlfs.Tree, directory string) {
	t.Helper()
	put := func(name string, content []byte) {
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{
		"info/L3/num_closids", "info/L3/cbm_mask", "info/L3/min_cbm_bits", "info/MB/num_closids", "info/MB/bandwidth_gran", "info/MB/min_bandwidth",
		"info/L3_MON/mon_features",
	}
	for _, group := range []string{"", "BE", "LS"} {
		names = append(names, filepath.Join(group, "schemata"), filepath.Join(group, "tasks"))
		for _, cache := range []string{"mon_L3_00", "mon_L3_01"} {
			for _, counter := range []string{"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"} {
				names = append(names, filepath.Join(group, "mon_data", cache, counter))
			}
		}
		for _, name := range []string{"cpus", "cpus_list", "mode", "size"} {
			put(filepath.Join(group, name), nil)
		}
	}
	for _, name := range names {
		content, err := kernel.Read(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		put(name, content)
	}
	for name, content := range map[string]string{"info/L3/shareable_bits": "0\n", "info/MB/delay_linear": "1\n", "info/L3_MON/num_rmids": "64\n"} {
		put(name, []byte(content))
	}
}

// byLibrary reads all groups by goresctrl, on a thread with a separate /proc/mounts.
func byLibrary(t *testing.T, directory string) (read counters, monitored []string) {
	t.Helper()
	rdt.SetLogger(slog.New(slog.DiscardHandler))
	mounts := filepath.Join(t.TempDir(), "proc")
	err := errors.Join(os.Mkdir(mounts, 0o755), os.WriteFile(filepath.Join(mounts, "mounts"), []byte("resctrl "+directory+" resctrl rw,relatime 0 0\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and it ends with the goroutine, in its namespace
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
				return err
			}
			if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
				return err
			}
			if err := unix.Mount(mounts, "/proc", "", unix.MS_BIND, ""); err != nil {
				return err
			}
			if err := rdt.Initialize(""); err != nil {
				return err
			}
			read = counters{}
			for _, class := range rdt.GetClasses() {
				name := class.Name()
				if name == rdt.RootClassName {
					name = ""
				}
				read[name] = sum(class.GetMonData())
			}
			monitored = rdt.GetMonFeatures()[rdt.MonResourceL3]
			return nil
		}()
	}()
	err = <-done
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("needs a mount namespace: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read, monitored
}

// sum is over all caches, as the agent's counters are.
func sum(data rdt.MonData) resctrl.Counters {
	var out resctrl.Counters
	for _, cache := range data.L3 {
		out.Occupancy += cache["llc_occupancy"]
		out.Total += cache["mbm_total_bytes"]
		out.Local += cache["mbm_local_bytes"]
		out.Values += len(cache)
	}
	return out
}
