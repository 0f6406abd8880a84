package sloconfig

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/configmerge"
)

const (
	// AnnotationProblems lists what is wrong with the configuration, one problem a line; absent when nothing is.
	AnnotationProblems = extension.ConfigDomainPrefix + "problems"
	// AnnotationObserved is the resourceVersion of the ConfigMap that was read; empty when there was none.
	AnnotationObserved = extension.ConfigDomainPrefix + "observed-resource-version"

	// fieldManager is the name under which the manager writes.
	fieldManager = "koord-manager"
	// maxProblemBytes bounds AnnotationProblems.
	maxProblemBytes = 8 << 10
)

// keep stores the texts in force and what is wrong with the others. It writes only what changed.
func (r *reconciler) keep(ctx context.Context, read *corev1.ConfigMap, config configmerge.Config) error {
	name := r.options.lastGood()
	kept := &corev1.ConfigMap{}
	err := r.client.Get(ctx, name, kept)
	if apierrors.IsNotFound(err) {
		kept = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
		describe(kept, read, config)
		if err := r.client.Create(ctx, kept, client.FieldOwner(fieldManager)); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("create configmap %s: %w", name, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("get configmap %s: %w", name, err)
	}
	changed := kept.DeepCopy()
	describe(changed, read, config)
	if maps.Equal(changed.Data, kept.Data) && maps.Equal(changed.Annotations, kept.Annotations) {
		return nil
	}
	// The lock keeps a replica that lost its lease without noticing from overwriting the leader's.
	patch := client.MergeFromWithOptions(kept, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, changed, patch, client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("patch configmap %s: %w", name, err)
	}
	return nil
}

// describe fills in what is in force. A key that this version does not know stays, for the one that does to find it when it
// leads again.
func describe(into, read *corev1.ConfigMap, config configmerge.Config) {
	data := config.Data()
	for key, text := range into.Data {
		if !slices.Contains(configuration.Keys(), key) {
			data[key] = text
		}
	}
	into.Data = data
	if into.Annotations == nil {
		into.Annotations = map[string]string{}
	}
	into.Annotations[AnnotationObserved] = read.ResourceVersion
	delete(into.Annotations, AnnotationProblems)
	var lines []string
	size := 0
	for _, problem := range config.Problems() {
		line := fmt.Sprintf("[%s] %s", problem.Code, problem)
		if size += len(line) + 1; size > maxProblemBytes {
			lines = append(lines, "...")
			break
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		into.Annotations[AnnotationProblems] = strings.Join(lines, "\n")
	}
}
