package skew

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

const (
	// patience bounds waits for what usually takes seconds.
	patience = time.Minute
	// nodes of a sandbox: enough for the scenario, too few for its stale node.
	nodes = 8
	// programsVariable is "required" where missing programs are a failure.
	programsVariable = "KOORD_TEST_SKEW"
)

// rig is a sandbox with a control plane of another version.
type rig struct {
	*sandboxtest.Sandbox
	client ctrlclient.Client
	// server is the version of the API server, as its directory names it.
	server string
	minor  uint
}

// directories of other versions of Kubernetes, which `make kubernetes-skew` builds.
func directories(t *testing.T) []string {
	t.Helper()
	skip := t.Skip
	if os.Getenv(programsVariable) == "required" {
		skip = t.Fatal
	}
	bin, err := sandboxtest.Bin()
	if err != nil {
		skip(err)
	}
	found, err := filepath.Glob(filepath.Join(bin, "kubernetes", "v*", "kube-controller-manager")) // the last to be built
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		skip("no other version of Kubernetes in " + filepath.Join(bin, "kubernetes") + ": run make kubernetes-skew")
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

// newRig starts a sandbox whose control plane is that of a directory, for the time of the test.
func newRig(t *testing.T, directory string) *rig {
	t.Helper()
	server := filepath.Base(directory)
	parsed, err := version.ParseGeneric(server)
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "koord-skew-") // its path is shorter than that of t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // a temporary directory
	sandbox, err := sandboxtest.New("skew", home)
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
	if err := sandbox.Up(ctx, "--nodes", "8", "--kubernetes-bin", directory); err != nil {
		t.Fatal(err)
	}
	config, err := sandbox.Config()
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	err = errors.Join(clientgoscheme.AddToScheme(scheme), configv1alpha1.AddToScheme(scheme), schedulingv1alpha1.AddToScheme(scheme),
		schedulingsigsv1alpha1.AddToScheme(scheme))
	if err != nil {
		t.Fatal(err)
	}
	client, err := ctrlclient.New(config, ctrlclient.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{Sandbox: sandbox, client: client, server: server, minor: parsed.Minor()}
}

// koordctl runs a command, which must succeed, and returns what it prints on standard output.
func (r *rig) koordctl(t *testing.T, args ...string) string {
	t.Helper()
	result, err := r.Koordctl(t.Context(), args...)
	if err != nil || result.Code != 0 {
		t.Fatalf("koordctl %v: exit code %d, %v\n%s%s", args, result.Code, err, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

// ask runs a command that prints JSON.
func (r *rig) ask(t *testing.T, into any, args ...string) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.koordctl(t, append(args, "-o", "json")...)), into); err != nil {
		t.Fatalf("koordctl %v: %v", args, err)
	}
}

// create creates objects.
func (r *rig) create(t *testing.T, objects ...ctrlclient.Object) {
	t.Helper()
	for _, object := range objects {
		if err := r.client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// space creates a namespace.
func (r *rig) space(t *testing.T, name string) string {
	t.Helper()
	r.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return name
}
