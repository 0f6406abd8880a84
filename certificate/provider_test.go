package certificate

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/test/eventually"
)

type listenerFunc func()

func (f listenerFunc) Enqueue() { f() }

func TestProviderFollowsItsSecret(t *testing.T) {
	issuer, client, fakeClock := newTestIssuer()
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	provider := NewSecretProvider(client, namespace, ManagerSecret)
	if err := provider.WaitForSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, _ := provider.CurrentCertKeyContent()
	var told atomic.Int32
	provider.AddListener(listenerFunc(func() { told.Add(1) }))

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); provider.Run(ctx, 1) }()

	eventually.True(t, "the watch", func() bool {
		for _, action := range client.Actions() {
			if action.GetVerb() == "watch" {
				return true
			}
		}
		return false
	})
	fakeClock.Step(ServingLifetime)
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the renewed certificate", func() bool {
		now, _ := provider.CurrentCertKeyContent()
		return !bytes.Equal(first, now) && told.Load() == 1
	})
	renewed, _ := provider.CurrentCertKeyContent()

	broken := getSecret(t, client, ManagerSecret)
	broken.Data[corev1.TLSCertKey] = []byte("junk")
	if _, err := client.CoreV1().Secrets(namespace).Update(t.Context(), broken, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := provider.RunOnce(t.Context()); err == nil {
		t.Error("a broken secret was accepted")
	}
	if now, _ := provider.CurrentCertKeyContent(); !bytes.Equal(renewed, now) {
		t.Error("a broken secret replaced the working certificate")
	}
	cancel()
	<-done
}

func TestWaitForSecretSaysWhatIsMissing(t *testing.T) {
	_, client, _ := newTestIssuer()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := NewSecretProvider(client, namespace, SchedulerSecret).WaitForSecret(ctx)
	if err == nil || !strings.Contains(err.Error(), SchedulerSecret) {
		t.Errorf("error %v does not name the secret", err)
	}
}

func TestWaitForSecretReturnsOnceTheSecretAppears(t *testing.T) {
	issuer, client, _ := newTestIssuer()
	provider := NewSecretProvider(client, namespace, SchedulerSecret)
	result := make(chan error, 1)
	go func() { result <- provider.WaitForSecret(t.Context()) }()
	eventually.True(t, "the first attempt", func() bool { return len(client.Actions()) > 0 })
	if _, err := client.CoreV1().Secrets(namespace).Get(t.Context(), SchedulerSecret, metav1.GetOptions{}); err == nil {
		t.Fatal("the secret exists too early")
	}
	if err := issuer.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if len(provider.CurrentCABundle()) == 0 {
		t.Error("the bundle is missing")
	}
}
