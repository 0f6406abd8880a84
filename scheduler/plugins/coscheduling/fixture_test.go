package coscheduling

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fcache "k8s.io/client-go/tools/cache/testing"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/state/gangs"
)

func keyIn(name string) gang.Key { return gang.Key{Namespace: "default", Name: name} }

// fixture is a plugin in a real framework, on a state that the test writes through a view of it.
type fixture struct {
	plugin *Plugin
	state  *gangs.State
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	metrics.Register()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	shared := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	state, err := gangs.NewFrom(fcache.NewFakeControllerSource(), shared.Core().V1().Pods().Informer(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	handle, err := frameworkruntime.NewFramework(ctx, nil, nil, frameworkruntime.WithInformerFactory(shared))
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := Factory(state)(ctx, nil, handle)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{plugin: plugin.(*Plugin), state: state}
}
