// Package wakeup is what the queueing hints of all plugins have in common: how they read an event, and how they answer.
package wakeup

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
)

// If wakes the pod on a condition.
func If(condition bool) fwk.QueueingHint {
	if condition {
		return fwk.Queue
	}
	return fwk.QueueSkip
}

// Objects returns an object before and after an event: nil before it was created, and after it was deleted. Of one whose end
// was missed while a watch was broken it returns the last that was known.
func Objects[T any](oldObject, newObject any) (before, after *T, err error) {
	if before, err = object[T](oldObject); err != nil {
		return nil, nil, err
	}
	after, err = object[T](newObject)
	return before, after, err
}

func object[T any](given any) (*T, error) {
	switch typed := given.(type) {
	case nil:
		return nil, nil
	case *T:
		return typed, nil
	case cache.DeletedFinalStateUnknown:
		return object[T](typed.Obj)
	}
	return nil, fmt.Errorf("unexpected object %T in an event of a %T", given, *new(T))
}
