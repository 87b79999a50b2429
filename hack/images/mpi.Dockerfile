# Open MPI and MPICH side by side, and sshd on port 2222 as a plain user: what
# mpi-operator's own base images do.
#   bookworm: Open MPI 4.1.4, MPICH 4.0.2; trixie: Open MPI 5.0.7, MPICH 4.2.1
ARG SUITE=bookworm
FROM docker.io/library/debian:${SUITE}-slim
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      openmpi-bin mpich openssh-server openssh-client \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /etc/ssh/ssh_host_*
COPY entrypoint.sh /entrypoint.sh
COPY sshd_config ucp-nodisc.so /tmp/
# Host keys come with the job, as a Secret. MPICH 4.0 needs ucp-nodisc (see
# there), so this image has an /etc/ld.so.preload of its own.
RUN mkdir -p /run/sshd \
 && sed -i 's/[ #]\(.*StrictHostKeyChecking \).*/ \1no/g; s/[ #]\(.*Port \).*/ \12222/g' /etc/ssh/ssh_config \
 && echo '    UserKnownHostsFile /dev/null' >>/etc/ssh/ssh_config \
 && sed -i 's/#\(StrictModes \).*/\1no/g; s/#\(Port \).*/\12222/g' /etc/ssh/sshd_config \
 && useradd -m -u 1000 -s /bin/bash mpiuser \
 && install -o mpiuser -g mpiuser -m 644 /tmp/sshd_config /home/mpiuser/.sshd_config \
 && case $(dpkg-query -W -f '${Version}' mpich) in 4.0.*|4.1*) \
      install -m 644 /tmp/ucp-nodisc.so /usr/lib/ucp-nodisc.so \
      && echo /usr/lib/ucp-nodisc.so >/etc/ld.so.preload;; esac \
 && rm /tmp/sshd_config /tmp/ucp-nodisc.so
WORKDIR /home/mpiuser
ENTRYPOINT ["/entrypoint.sh"]
