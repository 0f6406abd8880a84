package wakeup

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
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
