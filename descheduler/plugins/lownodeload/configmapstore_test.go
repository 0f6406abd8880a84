package lownodeload

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"koordinator.sh/koord/decision/descheduling/lownodeload"
)

func TestHistoriesOutliveTheProcess(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	client := fake.NewClientset()
	// Each store is that of another process.
	open := func() *ConfigMapStore {
		return &ConfigMapStore{Client: client, Namespace: "koordinator-system", Name: "history", Now: func() time.Time { return now }}
	}
	counted := lownodeload.NodeHistory{Pool: "pool", Node: lownodeload.Detector{Abnormalities: 3}, ObservedAt: metav1.NewTime(now)}
	history := lownodeload.History{Nodes: map[string]lownodeload.NodeHistory{"hot": counted, "calm": {Pool: "pool", ObservedAt: metav1.NewTime(now)}}}
	for _, instance := range []string{"koord/LowNodeLoad", "other"} {
		if err := open().Save(t.Context(), instance, history); err != nil {
			t.Fatal(err)
		}
	}
	load := func(instance string) lownodeload.History {
		t.Helper()
		loaded, err := open().Load(t.Context(), instance)
		if err != nil {
			t.Fatal(err)
		}
		return loaded
	}
	want := lownodeload.History{Nodes: map[string]lownodeload.NodeHistory{"hot": counted}}
	if diff := cmp.Diff(want, load("koord/LowNodeLoad")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(lownodeload.History{}, load("never saved")); diff != "" {
		t.Errorf("history of an unknown instance (-want +got):\n%s", diff)
	}
	now = now.Add(25 * time.Hour)
	if err := open().Save(t.Context(), "koord/LowNodeLoad", history); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lownodeload.History{}, load("other")); diff != "" {
		t.Errorf("history of an instance that ended a day ago (-want +got):\n%s", diff)
	}
}

func TestAHistoryThatCannotBeDecodedCountsAsNone(t *testing.T) {
	client := fake.NewClientset()
	store := &ConfigMapStore{Client: client, Namespace: "koordinator-system", Name: "history"}
	if err := store.Save(t.Context(), "one", lownodeload.History{}); err != nil {
		t.Fatal(err)
	}
	object, err := client.CoreV1().ConfigMaps("koordinator-system").Get(t.Context(), "history", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	object.Data["one"] = "?"
	if _, err := client.CoreV1().ConfigMaps("koordinator-system").Update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Load(t.Context(), "one"); err != nil || len(got.Nodes) > 0 {
		t.Errorf("history %v, error %v; want none", got, err)
	}
	if err := store.Save(t.Context(), "one", lownodeload.History{}); err != nil {
		t.Errorf("save over it: %v", err)
	}
}
