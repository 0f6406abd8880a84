//go:build linux && (amd64 || arm64)

package nvml

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host/gpu"
)

// library is a shared one that is compiled for the test.
func library(t *testing.T) string {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("needs a C compiler")
	}
	out := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	if output, err := exec.Command(compiler, "-shared", "-fPIC", "-o", out, "testdata/nvml.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return out
}

func TestALibraryIsLoaded(t *testing.T) {
	l, err := Open(library(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := gpu.Read(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := gpu.Device{
		Minor: 0, UUID: "GPU-a", Model: "Test GPU 80GB", BusID: "0000:3b:00.0", MemoryTotal: 80 << 30, MemoryUsed: 3 << 30, CoreUsed: 40,
		Processes: []gpu.Process{{PID: 11, MemoryUsed: 1 << 30, CoreUsed: 30}, {PID: 12}},
	}
	b := gpu.Device{Minor: 1, UUID: "GPU-b", Model: "Test GPU 80GB", BusID: "0000:5e:00.0", MemoryTotal: 80 << 30, MemoryUsed: 3 << 30, CoreUsed: 40}
	if diff := cmp.Diff(gpu.Reading{Driver: "555.42", Devices: []gpu.Device{a, b}}, got); diff != "" {
		t.Errorf("reading (-want +got):\n%s", diff)
	}
	got, err = gpu.Read(l, got.Devices)
	if err != nil || got.Devices[1].Problem != `read the utilization: NVML says "GPU is lost" (15)` || got.Devices[0].Problem != "" {
		t.Errorf("after a GPU was lost: %+v, %v", got.Devices, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoLibrary(t *testing.T) {
	for _, name := range []string{"libkoord-none.so.1", "testdata/nvml.c"} {
		if l, err := Open(name); err == nil {
			t.Errorf("%s was loaded: %v", name, l.Close())
		}
	}
}
