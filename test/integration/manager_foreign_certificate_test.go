package integration

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/certificate"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestAManagerServesCertificatesThatSomebodyElseKeeps has a manager lead that keeps no certificates, and plays who does: it puts one
// of another authority into the Secret that koord-manager made, and then renews it. The manager serves each, has it verified by
// the authority that stands beside it, and writes nothing.
func TestAManagerServesCertificatesThatSomebodyElseKeeps(t *testing.T) {
	awaitAdmission(t)
	t.Cleanup(func() { // the sandbox's own manager takes the Secret back
		sandboxtest.Eventually(t, 2*patience, func() error { return trusted(t) })
	})
	backToTheSandbox(t)
	other := startManager(t, managerFile(), "--manage-certificates=false")
	suspend(t)
	vacate(t)
	awaitLeader(t, other.webhooks)

	authorityPEM, authorityKey := signed(t, tls.Certificate{}, time.Now().Add(time.Hour))
	authority, err := tls.X509KeyPair(authorityPEM, authorityKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"the first one", "a renewed one"} {
		certificatePEM, key := signed(t, authority, time.Now().Add(time.Hour))
		installAll(t, map[string][]byte{corev1.TLSCertKey: certificatePEM, corev1.TLSPrivateKeyKey: key, certificate.AuthorityKey: authorityPEM})
		follows := func() error {
			all, err := bundles(t)
			if err != nil {
				return err
			}
			for who, bundle := range all {
				if !bytes.Equal(bundle, authorityPEM) {
					return fmt.Errorf("%s: %s does not have the authority's bundle", what, who)
				}
			}
			if err := servedAt(t, other.webhooks, authorityPEM, certificatePEM); err != nil {
				return fmt.Errorf("%s: at the webhooks: %w", what, err)
			}
			if err := servedAt(t, other.diagnostics, authorityPEM, certificatePEM); err != nil {
				return fmt.Errorf("%s: at the diagnostics: %w", what, err)
			}
			return nil
		}
		sandboxtest.Eventually(t, expiry, follows)
		leaseRenewals(t, 2) // in which it could have written
		if err := follows(); err != nil {
			t.Error(err)
		}
		secret := secretOf(t, certificate.ManagerSecret)
		if !bytes.Equal(secret.Data[corev1.TLSCertKey], certificatePEM) || secret.Labels[certificate.ManagedByLabel] != certificate.Manager {
			t.Errorf("%s: the Secret was written over, or is not the one that koord-manager made: %v", what, secret.Labels)
		}
	}
}
