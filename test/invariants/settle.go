package invariants

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Settle waits until the watcher has seen everything that the API server knows at the time of the call, and so checked
// it: until what it saw is what a fresh list says, or newer.
func (w *Watcher) Settle(ctx context.Context) error {
	for _, s := range w.streams {
		if err := s.settle(ctx); err != nil {
			return fmt.Errorf("wait for the events of %s: %w", s.kind.resource.Resource, err)
		}
	}
	return nil
}

func (s *stream) settle(ctx context.Context) error {
	objects, err := s.source.ListWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	listed := map[types.NamespacedName]uint64{}
	err = meta.EachListItem(objects, func(object runtime.Object) error {
		named, err := meta.Accessor(object)
		if err != nil {
			return err
		}
		name := types.NamespacedName{Namespace: named.GetNamespace(), Name: named.GetName()}
		listed[name], err = strconv.ParseUint(named.GetResourceVersion(), 10, 64)
		return err
	})
	if err != nil {
		return err
	}
	revision, err := listRevision(objects)
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		missing := s.missing(listed, revision)
		if missing == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", missing, ctx.Err())
		case <-tick.C:
		}
	}
}

func listRevision(list runtime.Object) (uint64, error) {
	named, err := meta.ListAccessor(list)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(named.GetResourceVersion(), 10, 64)
}

// missing says what of a list the stream has not seen yet, or has not seen go.
func (s *stream) missing(listed map[types.NamespacedName]uint64, revision uint64) error {
	s.watcher.mutex.Lock()
	defer s.watcher.mutex.Unlock()
	for name, want := range listed {
		object, present := s.objects[name]
		if !present && !s.passed(revision) {
			return fmt.Errorf("%s is not seen", name)
		}
		if present && revisionOf(object) < want {
			return fmt.Errorf("%s is seen at revision %s, it is at %d", name, object.GetResourceVersion(), want)
		}
	}
	for name, object := range s.objects {
		if _, exists := listed[name]; !exists && revisionOf(object) <= revision {
			return fmt.Errorf("%s is seen, and is gone", name)
		}
	}
	return nil
}

// passed reports whether the stream has seen anything newer than a revision: what is missing then was deleted since.
func (s *stream) passed(revision uint64) bool { return s.newest > revision }

func revisionOf(object metav1.Object) uint64 {
	revision, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return revision
}
