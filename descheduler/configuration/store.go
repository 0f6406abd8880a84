package configuration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/podlifetime"
)

// defaultEvery is how often the file is read again. A kubelet takes about a minute to update a mounted ConfigMap.
const defaultEvery = 10 * time.Second

// Options of a Store.
type Options struct {
	// Path of the file.
	Path string
	// Registry of all plugins.
	Registry pluginregistry.Registry
	// Every is how often the file is read again; default 10s.
	Every time.Duration
	// Apply puts a configuration that was read again into force; nil when Current is all that is asked.
	Apply func(context.Context, *Configuration) error
	// Recorder and Object report a configuration by an event; nil for none.
	Recorder events.EventRecorder
	Object   runtime.Object
	// Registerer of metrics; nil for none.
	Registerer prometheus.Registerer
}

// Store holds the configuration in force. It is safe for concurrent use.
type Store struct {
	options Options
	metrics *instruments

	// current is read while another one is applied, which may take as long as caches of plugins need to fill.
	current atomic.Pointer[Configuration]
	mu      sync.Mutex
	// seen is the text that was read last, and failed the error that applying it had.
	seen   []byte
	failed error
}

// Load reads the configuration for the first time. It must be valid.
func Load(ctx context.Context, options Options) (*Store, error) {
	if options.Every <= 0 {
		options.Every = defaultEvery
	}
	data, err := os.ReadFile(options.Path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	current, err := Read(data, options.Registry)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", options.Path, err)
	}
	metrics, err := newInstruments(options.Registerer)
	if err != nil {
		return nil, err
	}
	for _, warning := range current.Warnings {
		klog.FromContext(ctx).Info("configuration", "warning", warning)
	}
	s := &Store{options: options, metrics: metrics, seen: data}
	s.current.Store(current)
	return s, nil
}

// Current is the configuration in force.
func (s *Store) Current() *Configuration { return s.current.Load() }

// Run reads the file again and again until the context ends.
func (s *Store) Run(ctx context.Context) {
	ticker := time.NewTicker(s.options.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = s.Reload(ctx) // reported by Reload
		}
	}
}

// Reload reads the file now, and applies it when it changed and is valid. Otherwise the configuration in force stays, and what is wrong is
// logged, counted and recorded as an event, once for each text. What is valid and could not be applied is tried again.
func (s *Store) Reload(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := os.ReadFile(s.options.Path)
	if err != nil {
		return s.refuse(ctx, nil, fmt.Errorf("read configuration: %w", err))
	}
	if bytes.Equal(data, s.seen) && s.failed == nil {
		return nil
	}
	next, err := Read(data, s.options.Registry)
	if err == nil && s.options.Apply != nil {
		if err = s.options.Apply(ctx, next); err != nil {
			return s.refuse(ctx, data, fmt.Errorf("apply configuration: %w", err))
		}
	}
	if err != nil {
		return s.refuse(ctx, data, err)
	}
	s.accept(ctx, data, next)
	return nil
}

// accept reports a configuration that is in force.
func (s *Store) accept(ctx context.Context, data []byte, next *Configuration) {
	logger := klog.FromContext(ctx)
	warnings := next.Warnings
	if fields := needRestart(s.Current(), next); len(fields) > 0 {
		warnings = append(warnings, strings.Join(fields, ", ")+": the change takes effect after a restart")
	}
	for _, warning := range warnings {
		logger.Info("configuration", "warning", warning)
	}
	logger.Info("configuration is in force", "path", s.options.Path)
	s.current.Store(next)
	s.seen, s.failed = data, nil
	s.metrics.accepted()
	s.event(corev1.EventTypeNormal, "ConfigurationAccepted", "the configuration is in force")
}

// needRestart are the fields that differ and are read at start only.
func needRestart(before, after *Configuration) (fields []string) {
	if !reflect.DeepEqual(before.LeaderElection, after.LeaderElection) {
		fields = append(fields, "leaderElection")
	}
	if before.ClientConnection != after.ClientConnection {
		fields = append(fields, "clientConnection")
	}
	if !reflect.DeepEqual(before.DebuggingConfiguration, after.DebuggingConfiguration) {
		fields = append(fields, "enableProfiling", "enableContentionProfiling")
	}
	if before.Migration().MaxConcurrentReconciles != after.Migration().MaxConcurrentReconciles {
		fields = append(fields, "maxConcurrentReconciles of "+MigrationController)
	}
	if !before.ReadsNormalConditions() && after.ReadsNormalConditions() {
		fields = append(fields, "conditions of "+podlifetime.PluginName+" that are true for every pod that runs")
	}
	return fields
}

// refuse reports what is wrong, unless that was reported already.
func (s *Store) refuse(ctx context.Context, data []byte, err error) error {
	if s.failed != nil && s.failed.Error() == err.Error() && bytes.Equal(data, s.seen) {
		return err
	}
	s.seen, s.failed = data, err
	text := err.Error() + "; the last valid configuration stays in force"
	klog.FromContext(ctx).Error(err, "configuration is refused, the last valid one stays in force", "path", s.options.Path)
	s.metrics.refused(errors.As(err, new(*InvalidError)))
	s.event(corev1.EventTypeWarning, "ConfigurationRefused", text)
	return err
}

// maxEventBytes is what the API server takes as the note of an event.
const maxEventBytes = 1024

func (s *Store) event(kind, reason, note string) {
	if s.options.Recorder == nil || s.options.Object == nil {
		return
	}
	if len(note) > maxEventBytes {
		note = note[:maxEventBytes-3] + "..."
	}
	s.options.Recorder.Eventf(s.options.Object, nil, kind, reason, "ReadConfiguration", "%s", note)
}
