package ecosystem

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/test/freeport"
	"koordinator.sh/koord/test/sandboxtest"
)

// dask is a cluster of Dask whose workers are sized by ElasticWorkers: two on each of two nodes.
type dask struct {
	*rig
	namespace string
	client    *daskClient
}

// TestDaskWorkersPassTheirResultsOn takes a node's batch resources away and adds a node, while workers of Dask hold results and run tasks.
func TestDaskWorkersPassTheirResultsOn(t *testing.T) {
	installed(t, "dask", "python3-distributed", "/usr/bin/dask")
	d := newDask(t)
	t.Run("drains name pods by placeholders that are known", d.refusesUnknownPlaceholders)
	d.awaitWorkers(t, 4)
	var held map[string]int
	d.client.ask(t, "keep", &held)
	if len(held) != 4 {
		t.Fatalf("the results are on %v, want them on 4 workers", held)
	}
	t.Run("workers finish what they run", func(t *testing.T) {
		var names []string
		d.client.ask(t, "run", &names)
		d.takeBack(t, daskNodes[1])
		d.awaitAsked(t, 2)
		d.client.ask(t, "finish", &names)
		left := d.awaitWorkers(t, 2)
		d.computedOnce(t, 204)
		d.client.ask(t, "workers", &names)
		if !slices.Equal(names, left) {
			t.Errorf("Dask has workers %v, want %v", names, left)
		}
		d.explains(t, `workers finish their work after POST /drain/$(POD_NAME) to port 8787 of service "dask-scheduler"`)
		d.admit(t, daskNodes[2])
		d.awaitWorkers(t, 4)
	})
	t.Run("by Dask's own route, which starts anew what they run", func(t *testing.T) {
		d.drain(t, `{"path":"/api/v1/retire_workers","body":"{\"workers\":[\"tcp://$(POD_IP):9000\"]}","answerContains":"\"tcp://$(POD_IP):9000\""}`)
		d.takeBack(t, daskNodes[2])
		d.awaitWorkers(t, 2)
		d.computedOnce(t, 204)
	})
}

func newDask(t *testing.T) *dask {
	t.Helper()
	d := &dask{rig: newSandbox(t)}
	// Beside the sandbox's own, which does not size workers.
	d.runManager(t, "--leader-elect=false", "--manage-certificates=false", "--elastic-workers")
	host, ports := hostAddress(t), []int{freeport.Next(t), freeport.Next(t)}
	d.namespace = d.space(t, "analytics")
	modules, err := filepath.Abs("../../docs/examples/dask")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/dask.yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifests := strings.NewReplacer("SCHEDULER_HOST", host, "SCHEDULER_PORT", strconv.Itoa(ports[0]), "HTTP_PORT", strconv.Itoa(ports[1]),
		"MODULES", modules, "BATCH_CPU", strconv.FormatInt(d.half(t), 10)).Replace(string(text))
	d.runContainers(t, d.namespace, host)
	for _, object := range parse(t, []byte(manifests)) {
		object.SetNamespace(d.namespace)
		d.create(t, object)
	}
	scheduler := net.JoinHostPort(host, strconv.Itoa(ports[0]))
	sandboxtest.Eventually(t, patience, func() error {
		connection, err := net.Dial("tcp", scheduler)
		if err == nil {
			_ = connection.Close() // nothing was sent
		}
		return err
	})
	d.client = startDaskClient(t, "tcp://"+scheduler)
	return d
}

// hostAddress is an address of this machine that a pod could have.
func hostAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if of, is := address.(*net.IPNet); is && of.IP.IsGlobalUnicast() && of.IP.To4() != nil {
			return of.IP.String()
		}
	}
	t.Fatal("this machine has no address but loopback, where koord-manager asks nobody")
	return ""
}

// daskNodes are nodes of the same size; workers may use the first two, and the third later.
var daskNodes = []string{scenario.NodeName(1), scenario.NodeName(2), scenario.NodeName(4)}

// half labels the nodes of the workers, and returns a little less than half of the batch CPU that they offer.
func (d *dask) half(t *testing.T) int64 {
	t.Helper()
	least := int64(1) << 40
	for _, name := range daskNodes[:2] {
		node := d.admit(t, name)
		sandboxtest.Eventually(t, 2*patience, func() error {
			err := d.rig.client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(node), node)
			offer := node.Status.Allocatable[extension.BatchCPU]
			if err == nil && offer.Value() < 4000 {
				err = fmt.Errorf("node %s offers %s of batch-cpu", name, offer.String())
			}
			least = min(least, offer.Value())
			return err
		})
	}
	return least * 45 / 100
}

// admit lets workers use a node.
func (d *dask) admit(t *testing.T, name string) *corev1.Node {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	patch := ctrlclient.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"dask":"true"}}}`))
	if err := d.rig.client.Patch(t.Context(), node, patch); err != nil {
		t.Fatal(err)
	}
	return node
}

// takeBack starts a service on a node that uses nearly all of its CPU.
func (d *dask) takeBack(t *testing.T, node string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: d.space(t, "shop-"+node), Name: "shop", Labels: map[string]string{extension.LabelPodQoS: string(extension.QoSLS)},
		Annotations: map[string]string{scenario.CPUPercentAnnotation: "100", scenario.ProfileAnnotation: "hot"},
	}}
	// It is bound already: koord-scheduler would not load a node so much.
	pod.Spec.NodeName, pod.Spec.TerminationGracePeriodSeconds = node, new(int64(0))
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.k8s.io/pause:3.10", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("14"), corev1.ResourceMemory: resource.MustParse("1Gi")},
	}}}
	d.create(t, pod)
}

// awaitWorkers waits until a number of workers run and are known to Dask, and none drains; it returns their names in order.
func (d *dask) awaitWorkers(t *testing.T, want int) []string {
	t.Helper()
	var names []string
	sandboxtest.Eventually(t, 2*patience, func() error {
		var pods corev1.PodList
		if err := d.rig.client.List(t.Context(), &pods, ctrlclient.InNamespace(d.namespace), ctrlclient.MatchingLabels{"app": "dask-worker"}); err != nil {
			return err
		}
		names = nil
		for i := range pods.Items {
			if pods.Items[i].DeletionTimestamp == nil {
				names = append(names, pods.Items[i].Name)
			}
		}
		var object schedulingv1alpha1.ElasticWorkers
		if err := d.rig.client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: d.namespace, Name: "dask"}, &object); err != nil {
			return err
		}
		var known []string
		d.client.ask(t, "workers", &known)
		if slices.Sort(names); len(names) != want || len(known) != want || len(object.Status.Draining) > 0 {
			return fmt.Errorf("%d pods, %d workers of Dask; want %d: %s, draining %+v", len(names), len(known), want, object.Status.Message, object.Status.Draining)
		}
		return nil
	})
	return names
}

// awaitAsked waits until Dask was asked to retire a number of workers.
func (d *dask) awaitAsked(t *testing.T, want int) {
	t.Helper()
	sandboxtest.Eventually(t, 2*patience, func() error {
		var object schedulingv1alpha1.ElasticWorkers
		if err := d.rig.client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: d.namespace, Name: "dask"}, &object); err != nil {
			return err
		}
		asked := 0
		for _, worker := range object.Status.Draining {
			if strings.HasPrefix(worker.Message, "was asked to finish") {
				asked++
			}
		}
		if asked != want {
			return fmt.Errorf("%d workers were asked to finish, want %d: %+v", asked, want, object.Status.Draining)
		}
		return nil
	})
}

// computedOnce wants all results, and each task to have been started once.
func (d *dask) computedOnce(t *testing.T, want int) {
	t.Helper()
	var results [2][]int
	d.client.ask(t, "gather", &results)
	for i, result := range results[0] {
		if result != i*i {
			t.Errorf("result %d is %d, want %d", i, result, i*i)
		}
	}
	var computed []int
	d.client.ask(t, "computed", &computed)
	if slices.Sort(computed); len(slices.Compact(slices.Clone(computed))) != len(computed) || len(computed) != want || len(results[0])+len(results[1]) != want {
		t.Errorf("%d results of tasks that were started as %v, want each of %d to be started once", len(results[0])+len(results[1]), computed, want)
	}
}

// drain changes how workers are asked to finish.
func (d *dask) drain(t *testing.T, http string) {
	t.Helper()
	if err := d.patchDrain(t, http); err != nil {
		t.Fatal(err)
	}
}

func (d *dask) patchDrain(t *testing.T, http string) error {
	t.Helper()
	object := &schedulingv1alpha1.ElasticWorkers{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "dask"}}
	return d.rig.client.Patch(t.Context(), object, ctrlclient.RawPatch("application/merge-patch+json", []byte(`{"spec":{"drain":{"http":`+http+`}}}`)))
}

// refusesUnknownPlaceholders tries what the API server must not take.
func (d *dask) refusesUnknownPlaceholders(t *testing.T) {
	tests := map[string]struct{ http, wantError string }{
		"an unknown name in the path":  {`{"path":"/drain/$(HOSTNAME)"}`, "only $(POD_NAME)"},
		"an unknown name in the body":  {`{"body":"$(POD_UID)"}`, "only $(POD_NAME)"},
		"one that is not closed":       {`{"answerContains":"$(POD_IP"}`, "only $(POD_NAME)"},
		"an unknown name after $$":     {`{"body":"$$$(POD_UID)"}`, "only $(POD_NAME)"},
		"an unknown name for the end":  {`{"done":{"path":"/$(NAME)","answer":"yes"}}`, "only $(POD_NAME)"},
		"a port of the pod, too":       {`{"port":9000}`, "exactly one of port and service"},
		"neither a port nor a service": {`{"service":null}`, "exactly one of port and service"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := d.patchDrain(t, tc.http); err == nil || !strings.Contains(err.Error(), tc.wantError) {
				t.Errorf("error %v, want one with %q", err, tc.wantError)
			}
		})
	}
	d.drain(t, `{"body":"$$(POD_UID) $5 $(POD_IP) $(POD_NAMESPACE) $"}`)
	d.drain(t, `{"body":null}`)
}

// explains wants a note in the explanation of the workers.
func (d *dask) explains(t *testing.T, want string) {
	t.Helper()
	var answer struct{ Notes []string }
	d.ask(t, &answer, "explain", "workers", "dask", "-n", d.namespace)
	if !slices.Contains(answer.Notes, want) {
		t.Errorf("notes %q, want %q among them", answer.Notes, want)
	}
}

// daskClient is a client of Dask that takes commands.
type daskClient struct {
	in  io.Writer
	out *bufio.Scanner
}

func startDaskClient(t *testing.T, scheduler string) *daskClient {
	t.Helper()
	command := exec.CommandContext(t.Context(), "/usr/bin/python3", "testdata/dask_client.py", scheduler, filepath.Join(t.TempDir(), "computed"))
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait() // it ends with its input
	})
	return &daskClient{in: in, out: bufio.NewScanner(out)}
}

// ask sends a command, and reads its answer.
func (c *daskClient) ask(t *testing.T, command string, into any) {
	t.Helper()
	if _, err := io.WriteString(c.in, command+"\n"); err != nil {
		t.Fatal(err)
	}
	if !c.out.Scan() {
		t.Fatalf("the client of Dask does not answer %q: %v", command, c.out.Err())
	}
	if err := json.Unmarshal(c.out.Bytes(), into); err != nil {
		t.Fatalf("the client of Dask answers %q with %q: %v", command, c.out.Text(), err)
	}
}
