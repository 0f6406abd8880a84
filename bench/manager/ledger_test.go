package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"koordinator.sh/koord/api/extension"
)

func offering(name, batchCPU string) watch.Event {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if batchCPU != "" {
		node.Status.Allocatable = corev1.ResourceList{extension.BatchCPU: resource.MustParse(batchCPU)}
	}
	return watch.Event{Type: watch.Modified, Object: node}
}

func saying(name string, generation int64) watch.Event {
	return watch.Event{Type: watch.Modified, Object: &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: generation}}}
}

func TestAChangeIsDoneWithTheLastNodeAndTheLastNodeSLO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		for _, name := range []string{"a", "b"} {
			l.see(nodes, offering(name, "1000"))
			l.see(nodeSLOs, saying(name, 1))
		}
		began := time.Now()
		expected := l.expect(200, true)
		steps := []struct {
			name     string
			kind     kind
			event    watch.Event
			wantDone bool
		}{
			{"a node on its way", nodes, offering("a", "1100"), false},
			{"a node that has followed", nodes, offering("a", "1200"), false},
			{"a NodeSLO that has followed", nodeSLOs, saying("b", 2), false},
			{"a NodeSLO that was only touched", nodeSLOs, saying("a", 1), false},
			{"the last node", nodes, offering("b", "1200"), false},
			{"the last NodeSLO", nodeSLOs, saying("a", 2), true},
			{"a write afterwards", nodes, offering("b", "1300"), true},
		}
		for i, step := range steps {
			time.Sleep(time.Second)
			l.see(step.kind, step.event)
			done := false
			select {
			case <-expected.done:
				done = true
			default:
			}
			if done != step.wantDone {
				t.Errorf("step %d, %s: done is %t", i, step.name, done)
			}
		}
		if took := expected.finished.Sub(began); took != 6*time.Second {
			t.Errorf("the change took %s, want 6s", took)
		}
		if counted := l.counted(); counted[nodes] != 6 || counted[nodeSLOs] != 5 || counted[nodeMetrics] != 0 {
			t.Errorf("counted %v", counted)
		}
	})
}

func TestWhatAChangeLacksIsSaid(t *testing.T) {
	l := newLedger()
	l.see(nodes, offering("a", "1000"))
	l.see(nodeSLOs, saying("a", 1))
	expected := l.expect(-500, true)
	if got := l.missing(expected); !strings.Contains(got, "1 nodes and 1 NodeSLOs") || !strings.Contains(got, "offers 1000, want 500") {
		t.Errorf("missing: %s", got)
	}
	l.see(nodes, offering("a", "500"))
	if got := l.missing(expected); !strings.HasPrefix(got, "1 NodeSLOs") {
		t.Errorf("missing: %s", got)
	}
}

func TestEverythingHasSettledOnceNothingIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		began := time.Now()
		go func() {
			l.see(nodes, offering("a", ""))
			time.Sleep(10 * time.Second)
			l.see(nodes, offering("a", "1000"))
			time.Sleep(2 * time.Second)
			l.see(nodeSLOs, saying("a", 1))
			time.Sleep(3 * time.Second)
			l.see(nodeMetrics, saying("a", 1))
		}()
		if err := l.waitSettled(t.Context(), 1); err != nil || time.Since(began) != 15*time.Second+quiet {
			t.Errorf("settled with %v after %s", err, time.Since(began))
		}
		if err := l.waitSettled(t.Context(), 2); err == nil || !strings.Contains(err.Error(), "1 of 2 nodes") {
			t.Errorf("two nodes settled with %v", err)
		}
		l.see(nodes, watch.Event{Type: watch.Error, Object: &metav1.Status{Message: "too old"}})
		if err := l.waitSettled(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "too old") {
			t.Errorf("after a failed watch it settled with %v", err)
		}
	})
}
