package ecosystem

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

const (
	// patience bounds waits for what usually takes seconds.
	patience = time.Minute
	// programsVariable names the controllers that are tested, and whose absence is a failure; "required" stands for all. Where it is not set,
	// those are tested that are there.
	programsVariable = "KOORD_TEST_ECOSYSTEM"
)

// rig is a sandbox beside which controllers of other projects run.
type rig struct {
	*sandboxtest.Sandbox
	client ctrlclient.Client
	config *rest.Config
}

// newRig starts a sandbox and the controllers, for the time of the test.
func newRig(t *testing.T, controllers ...controller) *rig {
	t.Helper()
	names := make([]string, len(controllers))
	for i, c := range controllers {
		names[i] = c.name
	}
	directory := programs(t, names...)
	r := newSandbox(t)
	for _, c := range controllers {
		c.run(t, r, filepath.Join(directory, c.name))
	}
	return r
}

// newSandbox starts a sandbox with eight nodes.
func newSandbox(t *testing.T) *rig {
	t.Helper()
	home, err := os.MkdirTemp("", "koord-eco-") // its path is shorter than that of t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // a temporary directory
	sandbox, err := sandboxtest.New("ecosystem", home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errors.New("the sandbox did not start within 5 minutes"))
	defer cancel()
	if err := sandbox.Up(ctx, "--nodes", "8", "--scenario", "none"); err != nil {
		t.Fatal(err)
	}
	r := &rig{Sandbox: sandbox}
	if r.config, err = sandbox.Config(); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, schedulingsigsv1alpha1.AddToScheme, analysisv1alpha1.AddToScheme, schedulingv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	if r.client, err = ctrlclient.New(r.config, ctrlclient.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	return r
}

// programs is the directory of the controllers, which `make ecosystem` builds.
func programs(t *testing.T, names ...string) string {
	t.Helper()
	missing := absence(t, names...)
	bin, err := sandboxtest.Bin()
	if err != nil {
		missing(err)
	}
	directory := filepath.Join(bin, "ecosystem")
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(directory, name, "version")); err != nil { // written last
			missing("no " + name + " in " + directory + ": run make ecosystem")
		}
	}
	return directory
}

// installed skips a test of what is not wanted, or whose commands are not installed.
func installed(t *testing.T, name, packages string, commands ...string) {
	t.Helper()
	missing := absence(t, name)
	for _, command := range commands {
		if _, err := exec.LookPath(command); err != nil {
			missing("no " + command + ": install " + packages)
		}
	}
}

// absence is what the absence of projects means; it skips the test where one of them is not wanted.
func absence(t *testing.T, names ...string) func(...any) {
	t.Helper()
	wanted := os.Getenv(programsVariable)
	if wanted == "" {
		return t.Skip
	}
	for _, name := range names {
		if wanted != "required" && !slices.Contains(strings.Fields(wanted), name) {
			t.Skip(name + " is not among " + programsVariable)
		}
	}
	return t.Fatal
}

// ask runs a command of koordctl that prints JSON.
func (r *rig) ask(t *testing.T, into any, args ...string) {
	t.Helper()
	result, err := r.Koordctl(t.Context(), append(args, "-o", "json")...)
	if err != nil || result.Code != 0 {
		t.Fatalf("koordctl %v: exit code %d, %v\n%s%s", args, result.Code, err, result.Stdout, result.Stderr)
	}
	if err := json.Unmarshal([]byte(result.Stdout), into); err != nil {
		t.Fatalf("koordctl %v: %v", args, err)
	}
}

// create creates objects.
func (r *rig) create(t *testing.T, objects ...ctrlclient.Object) {
	t.Helper()
	for _, object := range objects {
		if err := r.client.Create(t.Context(), object); err != nil {
			t.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

// awaitKinds waits until the API server serves the kinds that manifests define, which takes a moment longer than their creation.
func (r *rig) awaitKinds(t *testing.T, manifests []byte) {
	t.Helper()
	for _, object := range parse(t, manifests) {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		sandboxtest.Eventually(t, patience, func() error {
			_, err := r.client.RESTMapper().RESTMapping(schema.GroupKind{Group: group, Kind: kind})
			return err
		})
	}
}

// space creates a namespace.
func (r *rig) space(t *testing.T, name string) string {
	t.Helper()
	r.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return name
}
