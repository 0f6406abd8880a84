package livecgroup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"koordinator.sh/koord/agent/connection/connectiontest"
	"koordinator.sh/koord/agent/koordlet"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// agentVariable has the test program be the agent: it is how one is started, in JSON.
const agentVariable = "KOORD_TEST_AGENT"

// nodeName is what the agent's node is called.
const nodeName = "node"

// agentGiven is what an agent is started with.
type agentGiven struct {
	Socket, CgroupRoot, Directory string
	Gates                         map[string]bool
}

// runAgent is koordlet until it is asked to end, over an API server at a socket. It returns its exit status.
func runAgent(encoded string) int {
	var given agentGiven
	if err := json.Unmarshal([]byte(encoded), &given); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	options := koordlet.NewOptions()
	options.RESTConfig = &rest.Config{Host: "http://memory", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", given.Socket)
	}}
	options.NodeName, options.KubeletCgroupRoot = nodeName, "/"+given.CgroupRoot
	options.StateDirectory, options.KubeletDirectory = filepath.Join(given.Directory, "state"), given.Directory
	options.SamplePeriod, options.FeatureGates = 100*time.Millisecond, given.Gates
	options.Serving.SecurePort, options.Hooks.NRI = 0, false
	if err := koordlet.Run(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// cluster is an API server for agents of a rig, with the rig's pods.
type cluster struct {
	*connectiontest.Server
	r     *rig
	given agentGiven
}

func newCluster(r *rig, gates map[string]bool) *cluster {
	r.t.Helper()
	directory, err := os.MkdirTemp("", "koord-agent-") // a socket's path has to be short
	if err != nil {
		r.t.Fatal(err)
	}
	c := &cluster{Server: connectiontest.New(), r: r, given: agentGiven{Socket: filepath.Join(directory, "api"), CgroupRoot: r.Root, Directory: directory, Gates: gates}}
	listener, err := net.Listen("unix", c.given.Socket)
	if err != nil {
		r.t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(c.serve), ReadHeaderTimeout: patience}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	r.t.Cleanup(func() {
		_ = server.Close() // what clients still wait for is of no interest
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			r.t.Error(err)
		}
		_ = os.RemoveAll(directory) // it is in the directory for temporary files
	})
	size := list("cpu", fmt.Sprint(r.CPUs.Len()), "memory", "4Gi")
	c.put("nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Status: corev1.NodeStatus{Capacity: size, Allocatable: size}})
	for _, pod := range r.pods {
		object := pod.Object.DeepCopy()
		object.Spec.NodeName = nodeName
		c.put("pods", object)
	}
	c.want(slov1alpha1.NodeSLOSpec{})
	return c
}

// serve passes a request on to the server in memory.
func (c *cluster) serve(w http.ResponseWriter, r *http.Request) {
	response, err := c.RoundTrip(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer response.Body.Close()
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	flush := http.NewResponseController(w)
	buffer := make([]byte, 32<<10)
	for {
		_ = flush.Flush() // a client that went is noticed by the write
		n, err := response.Body.Read(buffer)
		if _, failed := w.Write(buffer[:n]); failed != nil || err != nil && n == 0 {
			return
		}
		if errors.Is(err, io.EOF) {
			return
		}
	}
}

func (c *cluster) put(resource string, object any) {
	c.r.t.Helper()
	if err := c.Put(resource, object); err != nil {
		c.r.t.Fatal(err)
	}
}

// want changes the NodeSLO.
func (c *cluster) want(spec slov1alpha1.NodeSLOSpec) {
	c.r.t.Helper()
	c.put("nodeslos", &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Spec: spec})
}

// agent is one that runs as a process.
type agent struct {
	t       *testing.T
	command *exec.Cmd
	output  *strings.Builder
}

func (c *cluster) start() *agent {
	c.r.t.Helper()
	self, err := os.Executable()
	if err != nil {
		c.r.t.Fatal(err)
	}
	given, err := json.Marshal(c.given)
	if err != nil {
		c.r.t.Fatal(err)
	}
	a := &agent{t: c.r.t, command: exec.Command(self), output: &strings.Builder{}}
	a.command.Env = append(os.Environ(), agentVariable+"="+string(given))
	a.command.Stderr = a.output
	if err := a.command.Start(); err != nil {
		c.r.t.Fatal(err)
	}
	c.r.t.Cleanup(func() { _ = a.command.Process.Kill() }) // it ended as a rule
	return a
}

// kill ends the agent without a chance to do anything.
func (a *agent) kill() {
	a.t.Helper()
	if err := a.command.Process.Kill(); err != nil {
		a.t.Fatal(err)
	}
	_ = a.command.Wait() // it was killed
}

// stop asks the agent to end, and fails the test when that goes wrong.
func (a *agent) stop() {
	a.t.Helper()
	if err := a.command.Process.Signal(syscall.SIGTERM); err != nil {
		a.t.Fatal(err)
	}
	if err := a.command.Wait(); err != nil {
		a.t.Errorf("the agent ended by %v and said:\n%s", err, a.output)
	}
}
