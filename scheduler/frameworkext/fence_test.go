package frameworkext

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
)

const valid = 10 * time.Second

// clocks are both set by the test.
type clocks struct{ moment }

func (c *clocks) now() moment { return c.moment }

func (c *clocks) pass(steady, wall time.Duration) {
	c.steady, c.wall = c.steady.Add(steady), c.wall.Add(wall)
}

func TestALeaseLetsWriteForALimitedTime(t *testing.T) {
	for name, test := range map[string]struct {
		steady, wall time.Duration
		want         bool
	}{
		"at once":                                {want: true},
		"before the end":                         {steady: valid - 1, wall: valid - 1, want: true},
		"at the end":                             {steady: valid, wall: valid},
		"after the machine was stopped":          {steady: time.Hour, wall: time.Hour},
		"after the machine slept":                {wall: time.Hour},
		"after the clock was set back":           {steady: valid - 1, wall: -time.Hour, want: true},
		"after the end, with the clock set back": {steady: valid, wall: -time.Hour},
		"after the clock was set forward":        {steady: 1, wall: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &clocks{moment{time.Unix(1000, 0), time.Unix(1000, 0)}}
			observed := &Lock{Interface: &lock{}, valid: valid, now: clock.now}
			mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
			if observed.Leads() {
				t.Error("it leads before it has the lock")
			}
			if err := observed.Update(t.Context(), mine); err != nil {
				t.Fatal(err)
			}
			clock.pass(test.steady, test.wall)
			if got := observed.Leads(); got != test.want {
				t.Errorf("leads %v, want %v", got, test.want)
			}
			if err := observed.Update(t.Context(), mine); err != nil || !observed.Leads() {
				t.Errorf("it does not lead after it renewed the lock: %v", err)
			}
		})
	}
}

// slowLock takes time to be written.
type slowLock struct {
	lock
	write func()
}

func (s *slowLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	s.write()
	return s.lock.Update(ctx, record)
}

func TestALeaseCountsFromWhenItWasAskedFor(t *testing.T) {
	clock := &clocks{}
	observed := &Lock{Interface: &slowLock{write: func() { clock.pass(valid, valid) }}, valid: valid, now: clock.now}
	if err := observed.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Fatal(err)
	}
	if observed.Leads() {
		t.Error("it leads by a lease that was asked for too long ago")
	}
}

func TestOnlyReadsPassWithoutALease(t *testing.T) {
	var reached []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached = append(reached, r.Method)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Pod","apiVersion":"v1"}`)) // a client that does not read fails
	}))
	defer server.Close()
	clock := &clocks{}
	observed := &Lock{Interface: &lock{}, now: clock.now}
	completed := &kubeconfig.CompletedConfig{}
	*completed = (&kubeconfig.Config{
		KubeConfig: &rest.Config{Host: server.URL}, LeaderElection: &leaderelection.LeaderElectionConfig{RenewDeadline: valid},
	}).Complete()
	if err := Fence(completed, observed); err != nil {
		t.Fatal(err)
	}
	other, err := kubernetes.NewForConfig(completed.KubeConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []kubernetes.Interface{completed.Client, other} {
		pods := client.CoreV1().Pods("default")
		if _, err := pods.Get(t.Context(), "p", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if err := pods.Delete(t.Context(), "p", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("error %v without a lease, want one that says forbidden", err)
		}
		if err := observed.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
			t.Fatal(err)
		}
		if err := pods.Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
			t.Errorf("error %v with a lease", err)
		}
		clock.pass(valid, valid)
	}
	if len(reached) != 4 {
		t.Errorf("%v reached the server, want a read and a write of each client", reached)
	}
}

// TestAWriteThatWaitsForItsConnectionOutlivesNoLease has the lease end while a connection is dialled, as when the process is stopped there.
func TestAWriteThatWaitsForItsConnectionOutlivesNoLease(t *testing.T) {
	var written atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err == nil {
			written.Add(1)
		}
	}))
	defer server.Close()
	clock := &clocks{}
	observed := &Lock{Interface: &lock{}, now: clock.now}
	completed := &kubeconfig.CompletedConfig{}
	*completed = (&kubeconfig.Config{
		KubeConfig: &rest.Config{Host: server.URL, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			clock.pass(valid, valid)
			return new(net.Dialer).DialContext(ctx, network, address)
		}},
		LeaderElection: &leaderelection.LeaderElectionConfig{RenewDeadline: valid},
	}).Complete()
	if err := Fence(completed, observed); err != nil {
		t.Fatal(err)
	}
	if err := observed.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Fatal(err)
	}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	err := completed.Client.CoreV1().Pods("default").Bind(t.Context(), binding, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || written.Load() > 0 {
		t.Errorf("error %v, %d writes reached the server whole, want one that says forbidden and none", err, written.Load())
	}
}
