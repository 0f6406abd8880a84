package lownodeload

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/decision/descheduling/lownodeload"
)

const (
	// maxHistory bounds what one instance stores: a ConfigMap holds 1 MiB.
	maxHistory = 512 << 10
	// forgottenAfter is how long the history of an instance that saves none any more is kept.
	forgottenAfter = 24 * time.Hour
)

// ConfigMapStore keeps histories in a ConfigMap, so that they outlive the process. A history that cannot be decoded counts as none.
type ConfigMapStore struct {
	Client          kubernetes.Interface
	Namespace, Name string
	// Now is the clock; nil is the one of the machine.
	Now func() time.Time
}

var _ Store = (*ConfigMapStore)(nil)

// keyOf is a key of a ConfigMap for an instance.
func keyOf(instance string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, instance)
}

// Load returns what was saved last, the zero History when nothing was.
func (s *ConfigMapStore) Load(ctx context.Context, instance string) (lownodeload.History, error) {
	object, err := s.Client.CoreV1().ConfigMaps(s.Namespace).Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return lownodeload.History{}, nil
	}
	if err != nil {
		return lownodeload.History{}, fmt.Errorf("get ConfigMap %s/%s: %w", s.Namespace, s.Name, err)
	}
	var kept lownodeload.StoredHistory
	if text := object.Data[keyOf(instance)]; text != "" {
		if err := json.Unmarshal([]byte(text), &kept); err != nil {
			klog.FromContext(ctx).Error(err, "Ignored a history that cannot be decoded", "configMap", klog.KObj(object), "key", keyOf(instance))
			return lownodeload.History{}, nil
		}
	}
	return kept.History, nil
}

// Save keeps a history, and drops those of instances that saved none for a day.
func (s *ConfigMapStore) Save(ctx context.Context, instance string, history lownodeload.History) error {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	text, err := json.Marshal(lownodeload.StoredHistory{SavedAt: metav1.NewTime(now()), History: counting(history)})
	if err != nil {
		return fmt.Errorf("encode the history: %w", err)
	}
	if len(text) > maxHistory {
		return fmt.Errorf("the history of %d nodes is larger than %d bytes", len(history.Nodes), maxHistory)
	}
	maps := s.Client.CoreV1().ConfigMaps(s.Namespace)
	object, err := maps.Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}, Data: map[string]string{keyOf(instance): string(text)}}
		_, err = maps.Create(ctx, made, metav1.CreateOptions{})
		return s.wrap("create", err)
	}
	if err != nil {
		return s.wrap("get", err)
	}
	kept := map[string]string{}
	for key, text := range object.Data {
		var other lownodeload.StoredHistory
		if err := json.Unmarshal([]byte(text), &other); err == nil && now().Sub(other.SavedAt.Time) < forgottenAfter {
			kept[key] = text
		}
	}
	kept[keyOf(instance)] = string(text)
	object.Data = kept
	_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
	return s.wrap("update", err)
}

// counting is the history without nodes of which nothing is counted, which are most of them.
func counting(history lownodeload.History) lownodeload.History {
	kept := lownodeload.History{Nodes: map[string]lownodeload.NodeHistory{}}
	for name, node := range history.Nodes {
		if node.Node != (lownodeload.Detector{}) || node.Prod != (lownodeload.Detector{}) {
			kept.Nodes[name] = node
		}
	}
	return kept
}

func (s *ConfigMapStore) wrap(verb string, err error) error {
	if err != nil {
		return fmt.Errorf("%s ConfigMap %s/%s: %w", verb, s.Namespace, s.Name, err)
	}
	return nil
}
