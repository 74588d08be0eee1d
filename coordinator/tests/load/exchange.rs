//! One HTTP exchange on its own connection, as workers do it.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpSocket,
    time::timeout,
};

/// Total timeout of an exchange.
const EXCHANGE_TIMEOUT: Duration = Duration::from_mins(2);

/// A response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Seconds until a retry.
    pub(crate) retry_after: Option<u64>,
    pub(crate) body: Vec<u8>,
}

/// A request.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) token: &'a str,
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
}

/// Sends a request and reads the whole response.
pub(crate) async fn ask(server: SocketAddr, from: SocketAddr, request: &Request<'_>) -> Result<Answer, String> {
    match timeout(EXCHANGE_TIMEOUT, exchange(server, from, request)).await {
        Ok(done) => done.map_err(|error| format!("{}", error.kind())),
        Err(_) => Err("no answer within two minutes".to_owned()),
    }
}

async fn exchange(server: SocketAddr, from: SocketAddr, request: &Request<'_>) -> std::io::Result<Answer> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(from)?;
    let mut stream = socket.connect(server).await?;
    stream.set_nodelay(true)?;
    let Request { method, path, token, headers, body } = request;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {server}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-length: {}\r\n",
        body.len()
    );
    for (name, value) in *headers {
        head += name;
        head += ": ";
        head += value;
        head += "\r\n";
    }
    head += "\r\n";
    // An early rejection arrives before the whole request is sent.
    let said = async {
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body).await
    };
    let said = said.await;
    let mut bytes = Vec::new();
    if let Err(error) = stream.read_to_end(&mut bytes).await
        && !is_whole(&bytes)
    {
        return Err(said.err().unwrap_or(error));
    }
    answer(&bytes).ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
}

fn is_whole(bytes: &[u8]) -> bool {
    answer(bytes).is_some()
}

fn answer(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let (mut retry_after, mut length) = (None, None);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        match name.to_ascii_lowercase().as_str() {
            "retry-after" => retry_after = value.trim().parse().ok(),
            "content-length" => length = value.trim().parse::<usize>().ok(),
            _ => {}
        }
    }
    let body = &bytes[end + 4..];
    (length.is_none_or(|length| body.len() == length)).then(|| Answer { status, retry_after, body: body.to_vec() })
}
