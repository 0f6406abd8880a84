package queueinghint

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

func TestIf(t *testing.T) {
	if If(true) != fwk.Queue || If(false) != fwk.QueueSkip {
		t.Error("a pod is woken when it should not be, or not when it should")
	}
}

func TestObjects(t *testing.T) {
	a, b := &corev1.Node{}, &corev1.Node{}
	tests := map[string]struct {
		oldObject, newObject  any
		wantBefore, wantAfter *corev1.Node
		wantErr               string
	}{
		"created":                      {newObject: b, wantAfter: b},
		"changed":                      {oldObject: a, newObject: b, wantBefore: a, wantAfter: b},
		"deleted":                      {oldObject: a, wantBefore: a},
		"deleted while nobody watched": {oldObject: cache.DeletedFinalStateUnknown{Obj: a}, wantBefore: a},
		"another kind before":          {oldObject: &corev1.Pod{}, newObject: b, wantErr: "unexpected object *v1.Pod in an event of a v1.Node"},
		"another kind after":           {oldObject: a, newObject: "a", wantErr: "unexpected object string in an event of a v1.Node"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before, after, err := Objects[corev1.Node](test.oldObject, test.newObject)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != test.wantErr {
				t.Fatalf("error %q, want %q", text, test.wantErr)
			}
			if err == nil && (before != test.wantBefore || after != test.wantAfter) {
				t.Errorf("%p and %p, want %p and %p", before, after, test.wantBefore, test.wantAfter)
			}
		})
	}
}

func TestAPodWakesForItsOwnEdits(t *testing.T) {
	pod := func(edit func(*corev1.Pod)) *corev1.Pod {
		made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "own", Annotations: map[string]string{"hint": "a"}}}
		edit(made)
		return made
	}
	before := pod(func(*corev1.Pod) {})
	tests := map[string]struct {
		after *corev1.Pod
		want  fwk.QueueingHint
	}{
		"an annotation is dropped": {pod(func(p *corev1.Pod) { p.Annotations = nil }), fwk.Queue},
		"a label is added":         {pod(func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }), fwk.Queue},
		"the spec changes":         {pod(func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" }), fwk.Queue},
		"its status is written": {pod(func(p *corev1.Pod) {
			p.Status.Conditions, p.ResourceVersion = []corev1.PodCondition{{Type: corev1.PodScheduled}}, "2"
		}), fwk.QueueSkip},
		"another pod is edited": {pod(func(p *corev1.Pod) { p.UID, p.Annotations = "other", nil }), fwk.QueueSkip},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := OwnEdits().QueueingHintFn(klog.Background(), before, before, test.after); got != test.want || err != nil {
				t.Errorf("hint %v, error %v, want %v", got, err, test.want)
			}
		})
	}
	if got, err := OwnEdits().QueueingHintFn(klog.Background(), before, "?", before); got != fwk.Queue || err == nil {
		t.Errorf("an unknown object: hint %v, error %v", got, err)
	}
}
