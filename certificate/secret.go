package certificate

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

func newSecret(namespace, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      name,
			Labels:    map[string]string{ManagedByLabel: Manager, "app.kubernetes.io/part-of": "koordinator"},
		},
		Type: corev1.SecretTypeTLS,
	}
}

// managed says that an Issuer writes the Secret. One that cert-manager took over keeps the label of who made it.
func managed(secret *corev1.Secret) bool {
	for key := range secret.Annotations {
		if strings.HasPrefix(key, certManagerPrefix) {
			return false
		}
	}
	return secret.Labels[ManagedByLabel] == Manager
}

func fill(secret *corev1.Secret, p pair, bundle []byte) {
	secret.Data = map[string][]byte{
		corev1.TLSCertKey:       p.certificate,
		corev1.TLSPrivateKeyKey: p.key,
		AuthorityKey:            bundle,
	}
}

// parseAuthority reads an authority from its Secret. An authority whose ca.crt is absent is its own bundle.
func parseAuthority(secret *corev1.Secret) (*authority, error) {
	certificates, err := cert.ParseCertsPEM(secret.Data[corev1.TLSCertKey])
	if err != nil {
		return nil, fmt.Errorf("parse %s of secret %q: %w", corev1.TLSCertKey, secret.Name, err)
	}
	if !certificates[0].IsCA {
		return nil, fmt.Errorf("certificate in secret %q is not a CA certificate", secret.Name)
	}
	parsed, err := keyutil.ParsePrivateKeyPEM(secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("parse %s of secret %q: %w", corev1.TLSPrivateKeyKey, secret.Name, err)
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("key in secret %q cannot sign", secret.Name)
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(certificates[0].PublicKey) {
		return nil, fmt.Errorf("key in secret %q does not belong to its certificate", secret.Name)
	}
	bundle := secret.Data[AuthorityKey]
	if len(bundle) == 0 {
		bundle = secret.Data[corev1.TLSCertKey]
	}
	return &authority{certificate: certificates[0], key: key, bundle: bundle}, nil
}

// verifyServing returns why the certificate in a Secret cannot serve the names under the bundle at now, or nil.
func verifyServing(secret *corev1.Secret, names Names, bundle []byte, now time.Time) error {
	keyPair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return fmt.Errorf("load the key pair of secret %q: %w", secret.Name, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return errors.New("the CA bundle has no certificates")
	}
	if _, err := keyPair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now}); err != nil {
		return fmt.Errorf("verify the certificate of secret %q: %w", secret.Name, err)
	}
	for _, name := range names.dns() {
		if err := keyPair.Leaf.VerifyHostname(name); err != nil {
			return fmt.Errorf("verify the certificate of secret %q: %w", secret.Name, err)
		}
	}
	if !now.Before(renewalTime(keyPair.Leaf)) {
		return fmt.Errorf("certificate of secret %q is due for renewal", secret.Name)
	}
	return nil
}

// renewalTime is two thirds into a certificate's life: late enough to be rare, early enough to survive months of a
// manager that is down.
func renewalTime(c *x509.Certificate) time.Time {
	return c.NotBefore.Add(c.NotAfter.Sub(c.NotBefore) / 3 * 2)
}

// unexpired returns the certificates of a bundle that are valid at now, in PEM; unreadable bundles yield nothing.
func unexpired(bundle []byte, now time.Time) []byte {
	certificates, err := cert.ParseCertsPEM(bundle)
	if err != nil {
		return nil
	}
	var kept bytes.Buffer
	for _, c := range certificates {
		if now.Before(c.NotAfter) {
			encoded, err := cert.EncodeCertificates(c)
			if err != nil {
				return nil
			}
			kept.Write(encoded)
		}
	}
	return kept.Bytes()
}
