# One image for everything of ours: the command line (which is also what the
# init containers, the sidecar and the jobs run), the operator, and the tracer's
# libraries, which cairn-install copies into the application's pod.
#
# For several architectures: docker buildx build --platform linux/amd64,linux/arm64 .
# Both have the tracer; arm64 is cross-compiled. Only amd64 has the replayers, which
# are linked with MPI libraries.
ARG GO_IMAGE=docker.io/library/golang:1.26-bookworm

FROM --platform=linux/amd64 ${GO_IMAGE} AS tools
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates gcc gcc-aarch64-linux-gnu git libc6-dev libc6-dev-arm64-cross libmpich-dev libopenmpi-dev make \
 && rm -rf /var/lib/apt/lists/*
# --- end of tools (hack/images.sh dockerfile keeps everything above as an image)

FROM tools AS build
ARG VERSION=dev
ARG TARGETARCH=amd64
WORKDIR /src
COPY . .
RUN mkdir -p /image/usr/local/bin /image/usr/local/lib/cairn /image/tmp /image/etc/ssl/certs \
 && if [ "$TARGETARCH" = amd64 ]; then \
      make -j"$(nproc)" build VERSION="$VERSION" && cp -R lib/. /image/usr/local/lib/cairn/; \
    else \
      make -j"$(nproc)" build-arm64 VERSION="$VERSION" && cp bin/arm64/cairn* bin/ && cp bin/arm64/lib/* /image/usr/local/lib/cairn/; \
    fi \
 && cp bin/cairn bin/cairn-probe bin/cairn-operator /image/usr/local/bin/ \
 && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
 && chmod -R a+rX /image && chmod 1777 /image/tmp

# Static programs: nothing else is needed, not even a shell.
FROM scratch
COPY --from=build /image /
ENV PATH=/usr/local/bin
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/cairn"]
