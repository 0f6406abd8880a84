package check

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/certificate"
)

// expiring is how long before its end a certificate is reported. koord-manager renews its own earlier, so one that is that close was not
// renewed.
const expiring = 30 * 24 * time.Hour

// certificateCodes are those that checks of certificates report.
var certificateCodes = []finding.Code{finding.BundleInvalid, finding.CertificateExpiring, finding.CertificateInvalid}

// served is a server of the system that others verify.
type served struct {
	// subject is what has the bundle, such as a webhook; empty where only the certificate is judged.
	subject string
	// service by whose name the server is called.
	service string
	// bundle that clients verify by, in PEM.
	bundle []byte
	// secret with the serving certificate; nil when it is not known which.
	secret *Fact[*corev1.Secret]
}

// serving judges the bundle and the certificate of a server.
func (f *Facts) serving(s served) Outcome {
	var found []diagnosticsv1alpha1.Finding
	if s.subject != "" {
		found = f.judgeBundle(s)
	}
	switch {
	case s.secret == nil || s.secret.Value == nil && len(s.secret.Unread) == 0:
		if s.subject == "" {
			return skip("no Secret with a serving certificate")
		}
		return judged("", found)
	case len(s.secret.Unread) > 0:
		if len(found) == 0 {
			return unknown(s.secret.Unread...)
		}
		return judged("", found)
	}
	leaf, err := leafOf(s.secret.Value)
	if err != nil {
		return judged("", append(found, report(finding.CertificateInvalid, "", "secret %q: %s", s.secret.Value.Name, err)))
	}
	found = append(found, f.judgeLeaf(s, leaf)...)
	return judged("valid until "+leaf.NotAfter.UTC().Format(time.DateOnly), found)
}

// judgeBundle reports a bundle that verifies nothing.
func (f *Facts) judgeBundle(s served) []diagnosticsv1alpha1.Finding {
	if len(s.bundle) == 0 {
		return []diagnosticsv1alpha1.Finding{report(finding.BundleInvalid, "", "%s has no caBundle", s.subject)}
	}
	parsed, err := parseCertificates(s.bundle)
	if err != nil {
		return []diagnosticsv1alpha1.Finding{report(finding.BundleInvalid, "", "the caBundle of %s cannot be read: %s", s.subject, err)}
	}
	for _, authority := range parsed {
		if f.Now.Before(authority.NotAfter) {
			return nil
		}
	}
	return []diagnosticsv1alpha1.Finding{report(finding.BundleInvalid, "", "every certificate in the caBundle of %s has expired, the last at %s",
		s.subject, parsed[len(parsed)-1].NotAfter.UTC().Format(time.RFC3339))}
}

// judgeLeaf judges a serving certificate: its time, its names, and whether the bundle verifies it.
func (f *Facts) judgeLeaf(s served, leaf *x509.Certificate) []diagnosticsv1alpha1.Finding {
	name, left := s.secret.Value.Name, leaf.NotAfter.Sub(f.Now)
	until := leaf.NotAfter.UTC().Format(time.RFC3339)
	hint := fmt.Sprintf("kubectl -n %s get secret %s -o yaml", f.Namespace, name)
	var found []diagnosticsv1alpha1.Finding
	switch {
	case left <= 0:
		found = append(found, report(finding.CertificateInvalid, hint, "the certificate in secret %q expired at %s", name, until))
	case f.Now.Before(leaf.NotBefore):
		found = append(found, report(finding.CertificateInvalid, hint, "the certificate in secret %q is valid from %s on", name, leaf.NotBefore.UTC().Format(time.RFC3339)))
	case left < expiring:
		found = append(found, report(finding.CertificateExpiring, hint, "the certificate in secret %q expires at %s, in %d days", name, until, int(left.Hours()/24)))
	}
	if s.service != "" {
		host := s.service + "." + f.Namespace + ".svc"
		if err := leaf.VerifyHostname(host); err != nil {
			found = append(found, report(finding.CertificateInvalid, hint, "the certificate in secret %q is not valid for service %q: %s", name, s.service, err))
		}
	}
	authorities, err := parseCertificates(s.bundle)
	if s.subject == "" || err != nil || len(authorities) == 0 {
		return found
	}
	pool := x509.NewCertPool()
	for _, authority := range authorities {
		pool.AddCert(authority)
	}
	// At a time at which it is valid: whether it has expired was judged.
	_, err = leaf.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: leaf.NotBefore.Add(time.Second), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	var unknownAuthority x509.UnknownAuthorityError
	if errors.As(err, &unknownAuthority) {
		found = append(found, report(finding.CertificateInvalid, hint, "the caBundle of %s does not verify the certificate in secret %q: %s", s.subject, name, err))
	}
	return found
}

// leafOf is the serving certificate of a Secret: that of kubernetes.io/tls, or upstream's key.
func leafOf(s *corev1.Secret) (*x509.Certificate, error) {
	for _, key := range []string{"tls.crt", "cert.pem"} {
		if data := s.Data[key]; len(data) > 0 {
			parsed, err := parseCertificates(data)
			if err != nil {
				return nil, fmt.Errorf("key %s: %w", key, err)
			}
			return parsed[0], nil
		}
	}
	return nil, errors.New("has no certificate")
}

// parseCertificates reads PEM. Anything but certificates, or none, is an error.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for rest := bytes.TrimSpace(data); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("it is not PEM")
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, parsed)
	}
	if len(out) == 0 {
		return nil, errors.New("it has no certificate")
	}
	return out, nil
}

// decodeBundle decodes a caBundle of JSON; text that is not base64 is kept, and is then no PEM.
func decodeBundle(encoded string) []byte {
	if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
		return decoded
	}
	return []byte(encoded)
}

func (c component) certificate(f *Facts) Outcome {
	if f.upstream() {
		return skip("this build keeps no certificate in secret %s", c.secret)
	}
	return f.serving(served{service: c.name, secret: f.Secrets[c.secret]})
}

// secretOf is the Secret of the service of webhooks.
func (f *Facts) secretOf(service string) *Fact[*corev1.Secret] {
	switch service {
	case managerName:
		return f.Secrets[certificate.ManagerSecret]
	case upstreamService:
		return f.Secrets[upstreamSecret]
	}
	return nil
}
