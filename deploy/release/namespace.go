package release

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// namespaceLabels are those of a namespace that is created for the release. koordlet works on files of its node, which only the
// privileged Pod Security Standard allows; violations of the restricted one by other pods go to the audit log.
func namespaceLabels(name string) map[string]string {
	return map[string]string{
		"name":                               name,
		"pod-security.kubernetes.io/enforce": "privileged",
		"pod-security.kubernetes.io/audit":   "restricted",
	}
}

// ensureNamespace makes the namespace of the release. One that is there stays as its owner labelled it.
func (s *session) ensureNamespace(ctx context.Context) error {
	if s.options.DryRun || s.options.ReadOnly {
		return nil
	}
	name := s.options.Namespace
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: namespaceLabels(name)}}
	_, err := s.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	if apierrors.IsForbidden(err) {
		// Who may not make namespaces may still install into one that is there.
		if _, getErr := s.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); getErr == nil {
			return nil
		}
	}
	return fmt.Errorf("create namespace %q: %w", name, err)
}
