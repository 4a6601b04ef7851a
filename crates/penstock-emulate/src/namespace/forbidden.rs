//! Why a system lets a process make no namespaces, as far as the system tells.

use std::fs;
use std::io;

use rustix::io::Errno;

use super::error::NamespaceError;

/// Files of `/proc/sys` in which an administrator forbids user namespaces.
struct Switch {
    file: &'static str,
    /// The value that forbids them.
    forbids: &'static str,
    reason: &'static str,
    remedy: &'static str,
}

/// The limit on user namespaces is Linux's (namespaces(7)); the second switch is Debian's, the
/// third Ubuntu's.
const SWITCHES: [Switch; 3] = [
    Switch {
        file: "/proc/sys/user/max_user_namespaces",
        forbids: "0",
        reason: "the limit on user namespaces is 0",
        remedy: "an administrator can raise it: sysctl -w user.max_user_namespaces=1000",
    },
    Switch {
        file: "/proc/sys/kernel/unprivileged_userns_clone",
        forbids: "0",
        reason: "kernel.unprivileged_userns_clone is 0",
        remedy: "run as root, or an administrator can allow it: sysctl -w kernel.unprivileged_userns_clone=1",
    },
    Switch {
        file: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        forbids: "1",
        reason: "AppArmor keeps capabilities from user namespaces",
        remedy: "run as root, or an administrator can allow it: \
                 sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    },
];

/// What an error of the kernel means, beside the files that `read` reads.
fn explain(error: Errno, read: impl Fn(&str) -> Option<String>) -> (String, String) {
    for switch in &SWITCHES {
        if read(switch.file).is_some_and(|value| value.trim() == switch.forbids) {
            return (switch.reason.to_owned(), switch.remedy.to_owned());
        }
    }
    let filtered = read("/proc/self/status").is_some_and(|status| {
        status
            .lines()
            .any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"))
    });
    let (reason, remedy) = match error {
        Errno::NOSPC | Errno::USERS => (
            "a limit on namespaces is reached",
            "an administrator can raise user.max_user_namespaces, user.max_net_namespaces and their like",
        ),
        Errno::NOSYS | Errno::INVAL => (
            "the kernel is built without these namespaces",
            "use a kernel with user and network namespaces",
        ),
        _ if filtered => (
            "a seccomp filter is active, as in a container",
            "run outside of the container, or start it with: docker run --security-opt seccomp=unconfined \
             --device /dev/net/tun",
        ),
        _ => ("the kernel does not say why", "run as root, and not in a chroot"),
    };
    (reason.to_owned(), remedy.to_owned())
}

/// The refusal of this system.
pub(super) fn forbidden(source: io::Error) -> NamespaceError {
    let error = Errno::from_io_error(&source).unwrap_or(Errno::PERM);
    let (reason, remedy) = explain(error, |file| fs::read_to_string(file).ok());
    NamespaceError::Forbidden { reason, remedy, source }
}

/// What would let this process open `/dev/net/tun`.
pub(super) fn tun_refused(source: io::Error) -> NamespaceError {
    let remedy = match source.kind() {
        io::ErrorKind::PermissionDenied => {
            "an administrator can let everybody open it, as most systems do: \
             chmod 0666 /dev/net/tun; a container needs --device /dev/net/tun"
        }
        _ => "load the module (modprobe tun); a container needs --device /dev/net/tun",
    };
    NamespaceError::Tun { remedy, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(files: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        move |wanted| {
            files.iter().find(|(file, _)| *file == wanted).map(|(_, text)| text.to_string())
        }
    }

    #[test]
    fn a_switch_is_named_with_its_remedy() {
        for switch in &SWITCHES {
            let read = |file: &str| (file == switch.file).then(|| format!("{}\n", switch.forbids));
            let (reason, remedy) = explain(Errno::PERM, read);
            assert_eq!((reason.as_str(), remedy.as_str()), (switch.reason, switch.remedy));
        }
    }

    #[test]
    fn a_switch_that_allows_is_not_blamed() {
        let open = system(&[
            ("/proc/sys/user/max_user_namespaces", "63000\n"),
            ("/proc/sys/kernel/unprivileged_userns_clone", "1\n"),
            ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n"),
            ("/proc/self/status", "Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n"),
        ]);
        assert!(explain(Errno::PERM, &open).0.contains("does not say"));
        assert!(explain(Errno::NOSPC, &open).1.contains("user.max_net_namespaces"));
    }

    #[test]
    fn a_seccomp_filter_is_named() {
        let container = system(&[("/proc/self/status", "Name:\tx\nSeccomp:\t2\n")]);
        assert!(explain(Errno::PERM, container).0.contains("seccomp"));
    }

    #[test]
    fn tun_without_permission_and_without_module_have_their_remedies() {
        let denied = tun_refused(io::ErrorKind::PermissionDenied.into()).to_string();
        assert!(denied.contains("chmod 0666 /dev/net/tun"), "{denied}");
        assert!(tun_refused(io::ErrorKind::NotFound.into()).to_string().contains("modprobe tun"));
    }
}
