package jobinsight

import (
	"bytes"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/jobinsight"
)

// saver keeps the store in ConfigMaps, one for each part.
type saver struct {
	client    client.Client
	live      client.Reader
	recorder  events.EventRecorder
	namespace string

	store *jobinsight.Store
	// dirty says that the store knows more than the ConfigMaps, which were last written at the time saved.
	dirty bool
	saved time.Time
	// written are the parts as the ConfigMaps have them; one without a ConfigMap is nil.
	written [jobinsight.Parts][]byte
}

// load reads the store. What is damaged is reported, and the store begins with what could be read.
func (s *saver) load(ctx context.Context, now time.Time) error {
	written, err := readParts(ctx, s.live, s.namespace)
	if err != nil {
		return err
	}
	s.written = written
	var loss jobinsight.Loss
	if s.store, loss = decode(written); loss.Any() {
		s.reportLoss(ctx, loss)
		s.store.ReadEventsFrom(now)
	}
	return nil
}

// ReadStore reads what the leader has written in a namespace, and what of it is damaged. A store that was never written is empty.
func ReadStore(ctx context.Context, reader client.Reader, namespace string) (*jobinsight.Store, jobinsight.Loss, error) {
	written, err := readParts(ctx, reader, namespace)
	if err != nil {
		return nil, jobinsight.Loss{}, err
	}
	store, loss := decode(written)
	return store, loss, nil
}

// readParts reads the ConfigMaps; a part without one is nil.
func readParts(ctx context.Context, reader client.Reader, namespace string) (written [jobinsight.Parts][]byte, err error) {
	for i := range written {
		var configMap corev1.ConfigMap
		err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: jobinsight.ConfigMapName(i)}, &configMap)
		if client.IgnoreNotFound(err) != nil {
			return written, fmt.Errorf("get configmap %q in namespace %q: %w", jobinsight.ConfigMapName(i), namespace, err)
		}
		if err == nil {
			written[i] = append([]byte{}, configMap.BinaryData[jobinsight.DataKey]...)
		}
	}
	return written, nil
}

// decode leaves out empty parts, which were needed before, but for the first, which a store always has.
func decode(written [jobinsight.Parts][]byte) (*jobinsight.Store, jobinsight.Loss) {
	var parts [][]byte
	for i, part := range written {
		if len(part) > 0 || i == 0 && part != nil {
			parts = append(parts, part)
		}
	}
	return jobinsight.Decode(parts, jobinsight.DefaultKinds)
}

func (s *saver) reportLoss(ctx context.Context, loss jobinsight.Loss) {
	code := finding.JobInsightDamaged
	klog.FromContext(ctx).Info("Read only a part of what is known of jobs", "code", code, "loss", loss.String())
	about := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: jobinsight.ConfigMapName(0)}}
	s.recorder.Eventf(about, nil, corev1.EventTypeWarning, code.Name(), "ReadJobInsight", "[%s] %.900s", code, loss.String())
}

// save writes the parts that changed. A part that is not needed any more becomes empty.
func (s *saver) save(ctx context.Context, now time.Time) error {
	if !s.dirty {
		return nil
	}
	s.saved = now
	parts := s.store.Encode(jobinsight.PartBytes)
	for i := range s.written {
		var data []byte
		if i < len(parts) {
			data = parts[i]
		} else if s.written[i] == nil {
			continue
		}
		if s.written[i] != nil && bytes.Equal(data, s.written[i]) {
			continue
		}
		err := s.write(ctx, i, data)
		countWrite(err)
		if err != nil {
			return err
		}
		s.written[i] = append([]byte{}, data...)
	}
	s.dirty = false
	return nil
}

// write a part over whatever is there: nobody else writes it.
func (s *saver) write(ctx context.Context, part int, data []byte) error {
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: jobinsight.ConfigMapName(part)},
		BinaryData: map[string][]byte{jobinsight.DataKey: data},
	}
	err := s.client.Update(ctx, configMap, client.FieldOwner("koord-manager"))
	if apierrors.IsNotFound(err) {
		configMap.ResourceVersion = ""
		err = s.client.Create(ctx, configMap, client.FieldOwner("koord-manager"))
	}
	if err != nil {
		return fmt.Errorf("write configmap %q in namespace %q: %w", configMap.Name, s.namespace, err)
	}
	return nil
}
