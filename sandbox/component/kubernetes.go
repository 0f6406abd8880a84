package component

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// ServiceCIDR is the range of service addresses; nothing routes it, because no traffic runs inside the sandbox.
const ServiceCIDR = "10.96.0.0/16"

func (p Plan) etcd() Component {
	client, peer := loopbackURL(p.Ports.EtcdClient, ""), loopbackURL(p.Ports.EtcdPeer, "")
	pair := p.Bundle.EtcdServer
	return Component{
		Name: Etcd,
		Args: []string{
			"--name=sandbox",
			"--data-dir=" + p.Dir.EtcdData(),
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=sandbox=" + peer,
			"--cert-file=" + pair.CertFile, "--key-file=" + pair.KeyFile,
			"--client-cert-auth=true", "--trusted-ca-file=" + p.Bundle.EtcdCAFile,
			"--peer-cert-file=" + pair.CertFile, "--peer-key-file=" + pair.KeyFile,
			"--peer-client-cert-auth=true", "--peer-trusted-ca-file=" + p.Bundle.EtcdCAFile,
			// A sandbox's data may be lost with the machine's power; waiting for the disk would double its start.
			"--unsafe-no-fsync=true",
			"--quota-backend-bytes=" + strconv.Itoa(4<<30),
			"--auto-compaction-mode=revision", "--auto-compaction-retention=5000",
			"--snapshot-count=10000",
			"--log-level=warn",
		},
		Env:   memory(ample, "1GiB"),
		Ready: Probe{URL: loopbackURL(p.Ports.EtcdClient, "/readyz"), CAFile: p.Bundle.EtcdCAFile, Client: p.Bundle.EtcdClient},
	}
}

func (p Plan) apiServer() Component {
	b := p.Bundle
	return Component{
		Name: APIServer, Program: p.kubernetes(APIServer),
		Args: append([]string{
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.Ports.APIServer),
			"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
			"--etcd-servers=" + loopbackURL(p.Ports.EtcdClient, ""),
			"--etcd-cafile=" + b.EtcdCAFile, "--etcd-certfile=" + b.EtcdClient.CertFile, "--etcd-keyfile=" + b.EtcdClient.KeyFile,
			"--tls-cert-file=" + b.APIServer.CertFile, "--tls-private-key-file=" + b.APIServer.KeyFile,
			"--client-ca-file=" + b.CAFile,
			"--authorization-config=" + b.AuthorizationFile,
			"--enable-admission-plugins=NodeRestriction",
			"--admission-control-config-file=" + b.AdmissionFile,
			"--service-cluster-ip-range=" + ServiceCIDR,
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + b.ServiceAccountKeyFile,
			"--service-account-signing-key-file=" + b.ServiceAccountKeyFile,
			"--requestheader-client-ca-file=" + b.FrontProxyCAFile,
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + b.FrontProxy.CertFile, "--proxy-client-key-file=" + b.FrontProxy.KeyFile,
			"--profiling=false",
			// Only the sandbox's processes talk to it, and they do so a great deal.
			"--max-requests-inflight=1000", "--max-mutating-requests-inflight=500",
		}, p.kubeletAccess()...),
		Env:   memory(ample, "4GiB"),
		Ready: Probe{URL: loopbackURL(p.Ports.APIServer, "/readyz"), CAFile: b.CAFile, Client: b.Client("admin")},
	}
}

func (p Plan) controllerManager() Component {
	config := p.kubeconfig(ControllerManager)
	return Component{
		Name: ControllerManager, Program: p.kubernetes(ControllerManager),
		Args: []string{
			"--kubeconfig=" + config, "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.Ports.ControllerManager),
			"--tls-cert-file=" + p.Bundle.Manager.CertFile, "--tls-private-key-file=" + p.Bundle.Manager.KeyFile,
			"--root-ca-file=" + p.Bundle.CAFile,
			"--service-account-private-key-file=" + p.Bundle.ServiceAccountKeyFile,
			"--use-service-account-credentials=true",
			"--leader-elect=false",
			// Controllers that act on infrastructure a sandbox does not have would only watch and use memory. Those of cloud providers
			// do not start without one, and Kubernetes 1.37, which does not have them, refuses their names.
			"--controllers=*,-node-ipam-controller," +
				"-persistentvolume-attach-detach-controller,-persistentvolume-expander-controller,-bootstrap-signer-controller,-token-cleaner-controller",
			"--kube-api-qps=200", "--kube-api-burst=400",
			"--profiling=false",
		},
		Env:   memory(thrifty, "512MiB"),
		Ready: Probe{URL: loopbackURL(p.Ports.ControllerManager, "/healthz"), CAFile: p.Bundle.CAFile, Client: p.Bundle.Client("admin")},
	}
}

func (p Plan) kwok() Component {
	return Component{
		Name: Kwok,
		Args: []string{
			"--kubeconfig=" + p.kubeconfig(Kwok), "--v=WARN",
			"--config=" + filepath.Join(p.Dir.Config(), "kwok.yaml"),
			// Nodes that are not the sandbox's own are left alone.
			"--manage-nodes-with-label-selector=" + SimulatedNodeLabel + "=true",
			"--node-lease-duration-seconds=40",
			"--cidr=10.240.0.0/12",
			"--node-ip=127.0.0.1",
		},
		Env: memory(thrifty, "512MiB"),
	}
}
