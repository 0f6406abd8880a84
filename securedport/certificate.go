package securedport

import (
	"errors"
	"fmt"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
	certutil "k8s.io/client-go/util/cert"

	"koordinator.sh/koord/certificate"
)

// secretOrOwn is the serving certificate of a Secret, and a self-signed one until the Secret has been read: probes, which do not verify
// it, are answered before koord-manager has issued a certificate. Who verifies it sees an error until then.
type secretOrOwn struct {
	*certificate.SecretProvider
	certificate, key []byte
}

// CurrentCertKeyContent returns certificate and key in PEM.
func (c secretOrOwn) CurrentCertKeyContent() ([]byte, []byte) {
	if certificate, key := c.SecretProvider.CurrentCertKeyContent(); certificate != nil {
		return certificate, key
	}
	return c.certificate, c.key
}

// check is an error while the Secret has not been read.
func (c secretOrOwn) check() error {
	if certificate, _ := c.SecretProvider.CurrentCertKeyContent(); certificate == nil {
		return errors.New("the serving certificate has not been read: " + c.Name())
	}
	return nil
}

// servingCertificate returns the certificate of the port, a check whether it is the one to serve, and the CA bundle of its Secret.
func servingCertificate(client kubernetes.Interface, options Options) (dynamiccertificates.CertKeyContentProvider, func() error, func() []byte, error) {
	own, key, err := certutil.GenerateSelfSignedCertKey(options.Component, nil, []string{"localhost"})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make a self-signed certificate: %w", err)
	}
	namespace, name, err := options.Secret()
	if err != nil {
		return nil, nil, nil, err
	}
	if name == "" {
		static, err := dynamiccertificates.NewStaticCertKeyContent(options.Component, own, key)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("make a self-signed certificate: %w", err)
		}
		return static, func() error { return nil }, func() []byte { return nil }, nil
	}
	secret := secretOrOwn{SecretProvider: certificate.NewSecretProvider(client, namespace, name), certificate: own, key: key}
	return secret, secret.check, secret.CurrentCABundle, nil
}
