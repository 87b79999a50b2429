// A module of its own, so that CoreDNS is no dependency of the project:
// hack/install.sh builds main.go in Kubernetes' module, with the version that hack/lib.sh names.
module cairn/coredns

go 1.25
