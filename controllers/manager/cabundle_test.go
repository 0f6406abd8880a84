package manager

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/test/eventually"
)

func newAPIService() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": apiServiceName},
		"spec":     map[string]any{"group": "diagnostics.koordinator.sh"},
	}}
}

func newTestPublisher(bundle *atomic.Value, objects ...runtime.Object) (*bundlePublisher, *fake.FakeDynamicClient, *clocktesting.FakeClock) {
	kinds := map[schema.GroupVersionResource]string{apiServices: "APIServiceList"}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
	fakeClock := clocktesting.NewFakeClock(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))
	return &bundlePublisher{
		client: client,
		clock:  fakeClock,
		bundle: func() []byte { data, _ := bundle.Load().([]byte); return data },
	}, client, fakeClock
}

func published(t *testing.T, client *fake.FakeDynamicClient) []byte {
	t.Helper()
	service, err := client.Resource(apiServices).Get(t.Context(), apiServiceName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return bundleOf(service)
}

func TestTheBundleIsPublishedOnceItExists(t *testing.T) {
	var bundle atomic.Value
	publisher, client, _ := newTestPublisher(&bundle, newAPIService())
	if done, err := publisher.publish(t.Context()); done || err != nil {
		t.Fatalf("without a certificate publish returns %v, %v", done, err)
	}
	bundle.Store([]byte("certificates"))
	if done, err := publisher.publish(t.Context()); !done || err != nil {
		t.Fatalf("publish returns %v, %v", done, err)
	}
	if diff := cmp.Diff("certificates", string(published(t, client))); diff != "" {
		t.Errorf("bundle differs (-want +got):\n%s", diff)
	}
	client.ClearActions()
	if done, err := publisher.publish(t.Context()); !done || err != nil {
		t.Fatalf("the second time publish returns %v, %v", done, err)
	}
	for _, action := range client.Actions() {
		if action.GetVerb() == "patch" {
			t.Error("an unchanged bundle was written again")
		}
	}
}

func TestAnAbsentRegistrationIsAwaited(t *testing.T) {
	var bundle atomic.Value
	bundle.Store([]byte("certificates"))
	publisher, client, fakeClock := newTestPublisher(&bundle)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); publisher.run(ctx) }()
	eventually.True(t, "the first attempt", fakeClock.HasWaiters)
	if _, err := client.Resource(apiServices).Create(ctx, newAPIService(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	fakeClock.Step(bundleRetry)
	eventually.True(t, "the bundle", func() bool { return string(published(t, client)) == "certificates" })
	cancel()
	<-done
}

func TestANewBundleIsPublishedAtOnce(t *testing.T) {
	var bundle atomic.Value
	bundle.Store([]byte("old"))
	publisher, client, fakeClock := newTestPublisher(&bundle, newAPIService())
	publisher.changed = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); publisher.run(ctx) }()
	eventually.True(t, "the first look", fakeClock.HasWaiters)
	bundle.Store([]byte("new"))
	for range 3 { // several changes are one, and wake does not block
		publisher.wake()
	}
	eventually.True(t, "the new bundle", func() bool { return string(published(t, client)) == "new" })
	cancel()
	<-done
}
